"""The newest libraries: pins are dropped and nothing else, and the issue says what failed."""

from tools.environment import ENVIRONMENTS, ROOT
from tools.newest import report, without_pins


def test_pins_are_dropped_from_the_real_requirements():
    for name in ENVIRONMENTS["examples"].requirements:
        text = (ROOT / name).read_text("utf-8")
        loose = without_pins(text)
        lines = [line for line in loose.split("\n") if line and not line.startswith("#")]
        assert lines and not [line for line in lines if set("=<>#") & set(line)]
        pinned = [line.split("==")[0] for line in text.split("\n") if "==" in line]
        assert lines == pinned


def test_names_stay_as_they_are():
    assert without_pins("a-b[c]==1.0  # why\n# x==1\nd>=2") == "a-b[c]\n# x==1\nd"


def test_the_report_names_versions_and_the_end_of_the_output():
    text = report("\n".join(f"line {n}" for n in range(100)), "torch 9.9")
    assert "torch 9.9" in text and "line 99" in text and "line 1\n" not in text
