"""The quiz engine: `load` reads and checks, `lint` advises, `render` makes HTML."""
