"""Pictures are the same within the tolerance, and one word that moves is more than it."""

from PIL import Image, ImageDraw

from tools import looks


def page(text: str, height: int = 300) -> Image.Image:
    picture = Image.new("RGB", (390, height), "#fbf8f2")
    ImageDraw.Draw(picture).text((40, 100), text, fill="#23201b", font_size=24)
    return looks.reduced(_png(picture))


def _png(picture: Image.Image) -> bytes:
    file = looks.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def test_a_picture_is_like_itself():
    assert looks.compare(page("16 GB"), page("16 GB")) == looks.Difference(0.0)


def test_a_number_that_changes_places_with_its_unit_is_seen():
    found = looks.compare(page("16 GB"), page("GB 16"))
    assert found.is_seen
    assert found.note.startswith("at ")


def test_another_height_is_seen_and_told():
    assert looks.compare(page("x"), page("x", 600)) == looks.Difference(1.0, "130×100 → 130×200")


def test_what_differs_fails_only_under_the_versions_of_the_kept_pictures(monkeypatch, tmp_path):
    monkeypatch.setattr(looks, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(looks, "SHOWN", tmp_path / "shown")
    monkeypatch.setattr(looks, "MADE_WITH", tmp_path / "kept/made-with.json")
    looks.keep({"ar/home": page("16 GB"), "ar/old": page("x")}, {"browser": "1"})
    found = looks.judge({"ar/home": page("GB 16"), "ar/new": page("x")})
    assert [name for name, _ in found] == ["ar/home", "ar/new", "ar/old"]
    assert (tmp_path / "shown/ar/home.png").is_file()
    assert "3 differ" in looks.report(found, 2)
