"""Lays ROOT/clean/snippets and ROOT/mutated/snippets: uses of APIs that older library versions had (k12).

lay_snippets.py ROOT [--given DIR]
"""

from __future__ import annotations

from corpus import Corpus, parser


def main() -> None:
    corpus = Corpus(parser(__doc__).parse_args())
    for snippet in corpus.read("snippets.json"):
        prelude = snippet["prelude"] + "\n" if snippet["prelude"] else ""
        for kind, line in (("clean", "ok_ = None"), ("mutated", snippet["mutated"])):
            folder = corpus.root / kind / "snippets"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / snippet["file"]).write_text(f"{prelude}{line}\n", encoding="utf8")


if __name__ == "__main__":
    main()
