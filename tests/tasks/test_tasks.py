"""Boxes of task lists have names."""

from markdown import markdown

from dabt.tasks import with_named_boxes


def test_a_box_says_whether_its_task_is_done():
    tasks = {"pymdownx.tasklist": {"custom_checkbox": True}}
    text = "- [x] one\n- [ ] two\n"
    html = markdown(text, extensions=["pymdownx.tasklist"], extension_configs=tasks)
    named = with_named_boxes(html, "done", "to do")
    assert named.index('aria-label="done" checked') < named.index("one")
    assert named.index("one") < named.index('aria-label="to do"') < named.index("two")
