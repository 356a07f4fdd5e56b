"""Marked words. swewic: whether a word has the same sense in two texts; swewinograd: whether a pronoun refers to a name."""

from samples.dice import Dice
from samples.superlim.lexicon import NAMES
from samples.superlim.rows import LABEL_NOISE, Row, Splits, lines, marked, splits, unordered

SENSES = {  # by word, the contexts of its two senses
    "lag": (
        lines("""
            [Vårt|Ert] lag [vann|förlorade] [matchen|finalen|cupen] i [går|söndags].
            [Hon|Han] spelar i ett lag i [Malmö|Umeå|Lund].
            Tränaren var [stolt|besviken] när hans lag [vann|förlorade].
            """),
        lines("""
            Riksdagen [antog|ändrade] en lag om [vapen|skatter|alkohol].
            Enligt svensk lag är det [förbjudet|tillåtet] att [fiska|jaga] här.
            [Domaren|Advokaten] [läste|tolkade] en gammal lag.
            """),
    ),
    "mål": (
        lines("""
            [Backen|Anfallaren] gjorde ett mål i [första|andra] halvlek.
            Det blev mål på [hörna|straff] i [matchen|finalen].
            [Hon|Han] sköt ett mål med [vänsterfoten|huvudet].
            """),
        lines("""
            [Rätten|Domstolen] avgjorde ett mål om [stöld|bedrägeri|rån].
            [Advokaten|Åklagaren] förlorade ett mål i [tingsrätten|hovrätten].
            Ett mål om [arv|skatter] prövas i [rätten|domstolen].
            """),
    ),
    "plan": (
        lines("""
            Laget [tränar|spelar] på en plan [bakom skolan|vid sjön].
            [Matchen|Finalen] spelades på en [lerig|hal] plan.
            En plan med [konstgräs|grus] [kostar mycket|byggs vid skolan].
            """),
        lines("""
            Regeringen har en plan för [skolan|vården|klimatet].
            [Chefen|Styrelsen] lade fram en plan för [företaget|året].
            [Hon|Han] följer en [hemlig|noggrann] plan.
            """),
    ),
    "damm": (
        lines("""
            [Två ankor|Tre svanar] simmade i en damm.
            Det finns [fisk|grodor] i en damm i [parken|skogen].
            [Bonden|Grannen] grävde en damm i [trädgården|parken].
            """),
        lines("""
            Det låg damm på [hyllan|golvet|bokhyllan].
            [Hon|Han] torkade damm från [bordet|lampan].
            [Mormor|Pappa] nyser av damm i [sovrummet|soffan].
            """),
    ),
    "fluga": (
        lines("""
            En fluga surrade [i fönstret|runt lampan].
            En fluga [landade på|kröp över] [osten|smörgåsen].
            Spindeln fångade en fluga i [nätet|trädgården].
            """),
        lines("""
            [Han|Pappa] bar en [svart|röd] fluga till [kostymen|smokingen].
            [Brudgummen|Direktören] knöt en fluga framför spegeln.
            En fluga passar bra till [skjortan|fracken].
            """),
    ),
    "mus": (
        lines("""
            Katten [jagade|fångade] en mus i [källaren|ladan].
            En mus gnagde på [osten|brödet].
            En mus sprang [över golvet|in i hålet].
            """),
        lines("""
            [Datorn|Skärmen] säljs med tangentbord och mus.
            [Klicka|Peka] med en mus på [ikonen|länken].
            [Hon|Han] köpte en trådlös mus till [datorn|kontoret].
            """),
    ),
    "krona": (
        lines("""
            [Kungen|Drottningen] bar en krona av [guld|silver].
            En krona med [diamanter|rubiner] ligger i [slottet|museet].
            Prinsessan fick en krona på [huvudet|bröllopet].
            """),
        lines("""
            [Kaffet|Bullen] kostade en krona [förr|på den tiden].
            [Hon|Han] hade inte en krona på [banken|kontot].
            En krona växlas till [tio|nio] cent på [banken|flygplatsen].
            """),
    ),
    "fil": (
        lines("""
            [Hon|Han] åt fil med [müsli|flingor] till frukost.
            [Mormor|Pappa] hällde fil i en [skål|kopp].
            Det finns fil i [kylskåpet|affären].
            """),
        lines("""
            [Datorn|Programmet] sparade en fil på [hårddisken|servern].
            [Hon|Han] skickade en fil med [bilder|texter] till [kontoret|chefen].
            [Öppna|Kopiera] en fil i mappen på [hårddisken|skärmen].
            """),
    ),
}
# What the one of two people does to the other, and two reasons that concern the former and the latter.
SCHEMAS = (
    ("tackade {b}", ("hade fått hjälp", "hade fått en present"), ("hade hjälpt till", "hade lagat cykeln")),
    ("skällde på {b}", ("var arg", "hade blivit lurad"), ("hade ljugit", "hade kommit för sent")),
    ("lånade pengar av {b}", ("var pank", "hade glömt plånboken"), ("var rik", "hade gott om pengar")),
    ("berömde {b}", ("var imponerad", "tyckte om musik"), ("hade sjungit vackert", "hade arbetat hårt")),
    ("tröstade {b}", ("ville vara snäll", "kände medlidande"), ("var ledsen", "hade förlorat")),
    ("vann över {b}", ("hade tränat mest", "var starkast"), ("hade ont i knät", "var trött")),
    ("bad {b} om råd", ("var osäker", "visste för lite"), ("var erfaren", "visste mest")),
)
TAILS = ("", " Det hände i [går|våras].", " Det [sade|trodde] [alla|grannen].")


def pairs() -> Splits:
    dice, numbers = Dice("swewic"), iter(range(1, 10**6))

    def row() -> Row:
        word, senses = dice.pick(list(SENSES)), (dice.number(0, 1), dice.number(0, 1))
        texts = [dice.fill(dice.pick(SENSES[word][sense])) for sense in senses]
        while texts[0] == texts[1]:
            texts[1] = dice.fill(dice.pick(SENSES[word][senses[1]]))
        same = (senses[0] == senses[1]) != dice.chance(LABEL_NOISE)
        first, second = ({"context": text, "word": marked(text, word)} for text in texts)
        meta = {"first_source": "superlim-sample", "first_sense_id": f"{word}..{senses[0] + 1}"}
        meta |= {"second_source": "superlim-sample", "second_sense_id": f"{word}..{senses[1] + 1}", "pos": "Substantiv"}
        label = "same_sense" if same else "different_sense"
        return {"idx": next(numbers), "first": first, "second": second, "label": label, "meta": meta}

    return splits(row, lambda row: unordered(row["first"]["context"], row["second"]["context"]))


def pronouns() -> Splits:
    dice, numbers, snippets = Dice("swewinograd"), iter(range(1, 10**6)), iter(range(1, 10**6))

    def snippet() -> list[Row]:
        does, *reasons = dice.pick(SCHEMAS)
        meant, pronoun = dice.number(0, 1), dice.pick(list(NAMES))
        names = dice.sample(NAMES[pronoun], 2)
        if dice.chance(0.2):  # the pronoun's gender alone tells which name it refers to
            names[1 - meant] = dice.pick(NAMES["hon" if pronoun == "han" else "han"])
        frame = f"{names[0]} {does} eftersom {pronoun} {dice.pick(reasons[meant])}.{dice.pick(TAILS)}"
        text = dice.fill(frame, b=names[1])
        marks = {"pronoun": marked(text, pronoun, text.index("eftersom"))}
        meta = {"snippet_id": f"{next(snippets)}A"}
        labels = ["coreferring" if place == meant else "not_coreferring" for place in range(2)]
        return [
            {
                "idx": next(numbers),
                "text": text,
                **marks,
                "candidate_antecedent": marked(text, name),
                "label": label,
                "meta": meta,
            }
            for name, label in zip(names, labels, strict=True)
        ]

    sizes = {"train": 200, "dev": 60, "test": 40}
    made, seen = {}, set[str]()
    for split, count in sizes.items():
        rows: list[Row] = []
        while len(rows) < 2 * count:
            both = snippet()
            if both[0]["text"] not in seen:
                seen.add(both[0]["text"])
                rows += both
        made[split] = rows
    return made
