from mtl.vectors.export.export import code_block


def test_a_command_cannot_end_its_code_block() -> None:
    assert code_block("mtl x ```\n# evil") == "````sh\nmtl x ``` # evil\n````"
    assert code_block("a", "b") == "```sh\na\nb\n```"
