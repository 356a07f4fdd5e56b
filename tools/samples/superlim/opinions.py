"""absabank-imm: reviews with a number from 1 to 5. argumentation-sentences: for, against or unrelated to a topic."""

from operator import itemgetter

from samples.dice import Dice
from samples.superlim.rows import LABEL_NOISE, Row, Splits, annotated, lines, mean, splits

ASPECTS = (  # with the gender of the adjective: 0 for en, 1 for ett
    *(("maten", 0), ("frukosten", 0), ("sängen", 0), ("utsikten", 0), ("personalen", 0), ("bastun", 0)),
    *(("rummet", 1), ("badrummet", 1), ("kaffet", 1), ("läget", 1), ("hotellet", 1), ("köket", 1)),
)
ADJECTIVES = {
    2: (("fantastisk", "fantastiskt"), ("utmärkt", "utmärkt"), ("underbar", "underbart"), ("strålande", "strålande")),
    1: (("bra", "bra"), ("fin", "fint"), ("trevlig", "trevligt"), ("behaglig", "behagligt")),
    0: (
        ("helt okej", "helt okej"),
        ("acceptabel", "acceptabelt"),
        ("som väntat", "som väntat"),
        ("godtagbar", "godtagbart"),
    ),
    -1: (("tråkig", "tråkigt"), ("trist", "trist"), ("enformig", "enformigt"), ("medelmåttig", "medelmåttigt")),
    -2: (("hemsk", "hemskt"), ("usel", "uselt"), ("förfärlig", "förfärligt"), ("bedrövlig", "bedrövligt")),
}
JUDGEMENTS = lines("""
    {noun} var {adjective}
    [vi|alla] tyckte att {noun} var {adjective}
    [jag måste säga|man kan säga] att {noun} var {adjective}
    enligt [mig|oss] var {noun} {adjective}
    {noun} var, [som sagt|kort sagt], {adjective}
""")
DENIAL = "{noun} var [inte alls|knappast] {adjective}"
FACTS = lines("""
    vi [bodde|stannade] där i {number} nätter
    [hotellet ligger|bussen stannar] nära [torget|stationen|hamnen]
    [vi|mina föräldrar] reste dit i [mars|maj|augusti]
    frukosten serveras från klockan [sex|sju|åtta]
""")

TOPICS = ("vindkraft", "distansarbete", "skoluniform", "läxor", "kollektivtrafik", "självkörande bilar")
GOOD = ("tryggheten", "jämlikheten", "trivseln", "friheten", "tilliten")
BAD = ("utsläppen", "kostnaderna", "stressen", "orättvisorna", "bullret")
PRO = lines("""
    {topic} [ökar|stärker|förbättrar] {good}
    {topic} [minskar|dämpar|begränsar] {bad}
    {topic} gör [livet|vardagen] [bättre|lättare] för [alla|många]
    [vi behöver|landet behöver] {topic} [nu|i framtiden]
    det [är klokt|vore bra] att satsa på {topic}
""")
CON = lines("""
    {topic} [ökar|förvärrar|höjer] {bad}
    {topic} [minskar|hotar|begränsar] {good}
    {topic} gör [livet|vardagen] [sämre|svårare] för [alla|många]
    vi [borde förbjuda|klarar oss utan] {topic}
    det [är dumt|vore fel] att satsa på {topic}
""")
NEITHER = lines("""
    [kommunen|tidningen|radion] [har gjort en rapport om|undersöker] {topic}
    [ordet|begreppet] {topic} [används|förekommer] ofta i [debatten|medierna]
    [eleverna|gästerna] talade om {topic} i [går|tisdags]
""")
SPEAKERS = lines("""
    {claim}.
    {claim}, [säger forskarna|enligt experterna|tror jag].
    [Många anser|Vi vet|Rapporten visar] att {claim}.
""")


def reviews() -> Splits:
    dice, numbers = Dice("absabank-imm"), iter(range(1, 10**6))

    def judgement(strength: int) -> str:
        noun, gender = dice.pick(ASPECTS)
        if strength < 0 and dice.chance(0.2):
            return dice.fill(DENIAL, noun=noun, adjective=dice.pick(ADJECTIVES[-strength])[gender])
        return dice.fill(dice.pick(JUDGEMENTS), noun=noun, adjective=dice.pick(ADJECTIVES[strength])[gender])

    def row() -> Row:
        tone = dice.pick((-2, -1, 0, 1, 2))
        strengths = [min(max(tone + dice.pick((-1, 0, 0, 1)), -2), 2) for _ in range(dice.number(1, 3))]
        sentences = [judgement(strength) for strength in strengths]
        sentences += [dice.fill(dice.pick(FACTS), number=str(dice.number(2, 9)))] * dice.chance(0.5)
        text = " ".join(f"{sentence}." for sentence in dice.sample(sentences, len(sentences)))
        scores = annotated(dice, 3 + sum(strengths) / len(strengths), 1, 5, annotators=3)
        return {"id": f"r{next(numbers)}", "text": text, "label": mean(scores), **_by_annotator(scores)}

    return splits(row, itemgetter("text"))


def _by_annotator(scores: list[int]) -> Row:
    return {f"a{number}": float(score) for number, score in enumerate(scores)}


def arguments() -> Splits:
    dice, numbers = Dice("argumentation-sentences"), iter(range(1, 10**6))

    def row() -> Row:
        label, topic = dice.pick(("pro", "con", "non")), dice.pick(TOPICS)
        subject, frames = topic, {"pro": PRO, "con": CON, "non": NEITHER}[label]
        if label == "non" and dice.chance(0.4):  # an argument about another topic
            subject, frames = dice.pick([other for other in TOPICS if other != topic]), dice.pick((PRO, CON))
        claim = dice.fill(dice.pick(frames), topic=subject, good=dice.pick(GOOD), bad=dice.pick(BAD))
        speaker = dice.pick(SPEAKERS)
        if "att {claim}" in speaker:
            claim = claim[:1].lower() + claim[1:]
        if dice.chance(LABEL_NOISE):
            label = "non"
        sentence = dice.fill(speaker, claim=claim)
        return {"sentence_id": f"a{next(numbers)}", "topic": topic, "label": label, "sentence": sentence}

    return splits(row, lambda row: row["sentence"])
