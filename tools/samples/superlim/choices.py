"""Choices. swefaq: the answer to a question among those of its category; swesat-synonyms: the synonym among five words."""

import itertools

from samples.dice import Dice
from samples.superlim.lexicon import SYNONYMS
from samples.superlim.rows import WITHOUT_DEV, Row, Splits

PLACES = ("biblioteket", "museet", "gymmet", "hotellet", "campingen", "badhuset", "konserthuset", "tennishallen")
TOWNS = ("Lund", "Umeå", "Kiruna", "Visby", "Falun", "Kalmar", "Motala", "Växjö")
STREETS = ("Storgatan", "Kyrkogatan", "Hamngatan", "Skolvägen", "Parkvägen")
QUESTIONS = (  # a question, and its answer
    (
        "[När|Hur dags] öppnar {place}?",
        "[Vi öppnar|Dörrarna öppnas] klockan {number} [på vardagar|varje dag].",
    ),
    (
        "[Vad kostar det|Hur dyrt är det] att besöka {place}?",
        "[En biljett|Inträdet] kostar {number}0 kronor [för vuxna|per person].",
    ),
    (
        "[Var ligger|Hur hittar man till] {place}?",
        "[Adressen är|Du hittar oss på] {street} {number}.",
    ),
    (
        "Hur [bokar|beställer] jag en [tid|plats] på {place}?",
        "[Ring receptionen|Fyll i formuläret på webben] [senast {number} dagar före|i god tid].",
    ),
    (
        "Jag har [glömt|tappat] [min väska|mina nycklar] på {place}, vad gör jag?",
        "[Upphittade|Borttappade] saker sparas i {number} [dagar|veckor].",
    ),
    (
        "[Var kan jag parkera|Finns det parkering] vid {place}?",
        "[Det finns {number} platser för bilar|Ställ bilen] [bakom huset|i garaget].",
    ),
    (
        "Får [hunden|min katt] följa med till {place}?",
        "[Nej, djur|Husdjur] är tyvärr inte [tillåtna|välkomna] [hos oss|i lokalerna].",
    ),
    (
        "[Kan man äta lunch|Finns det ett kafé] på {place}?",
        "[Kaféet|Restaurangen] serverar [soppa och bröd|varm mat] till klockan {number}.",
    ),
    (
        "[Söker ni|Behöver ni] personal till {place}?",
        "Lediga [tjänster|jobb] [annonseras på webbplatsen|finns på anslagstavlan] [hela året|varje vår].",
    ),
)
CATEGORY = 5  # questions of a category
OPTIONS = 5


def questions() -> Splits:
    dice = Dice("swefaq")
    places = dice.sample(list(itertools.product(PLACES, TOWNS)), len(PLACES) * len(TOWNS))
    made: Splits = {}
    for split, count in (("train", 24), ("dev", 20), ("test", 12)):
        made[split] = [row for _ in range(count) for row in _category(dice, len(places), *places.pop())]
    return made


def _category(dice: Dice, number: int, place: str, town: str) -> list[Row]:
    """The rows of a category: each question has all answers of the category as its candidates, in the same order."""
    chosen = dice.sample(QUESTIONS, CATEGORY)

    def fill(frame: str) -> str:
        return dice.fill(frame, place=f"{place} i {town}", street=dice.pick(STREETS), number=str(dice.number(4, 19)))

    asked = [fill(question) for question, _ in chosen]
    answers = [fill(answer) for _, answer in chosen]
    order = dice.sample(range(CATEGORY), CATEGORY)
    meta = {"category": f"{place} i {town}", "source": "superlim-sample", "link": ""}
    shown = {"candidate_answers": [answers[i] for i in order]}
    return [
        {"category_id": number, "question": question, **shown, "label": order.index(i), "meta": meta}
        for i, question in enumerate(asked)
    ]


def synonyms() -> Splits:
    """Rows of train and test have different pairs of a word and its synonym, but share words."""
    dice = Dice("swesat-synonyms")
    pairs = [(group, pair) for group, (words, _) in enumerate(SYNONYMS) for pair in itertools.permutations(words, 2)]
    rows = [_question(dice, number, *pair) for number, pair in enumerate(dice.sample(pairs, len(pairs)), 1)]
    train = len(rows) - WITHOUT_DEV["test"] * len(rows) // sum(WITHOUT_DEV.values())
    return {"train": rows[:train], "test": rows[train:]}


def _question(dice: Dice, number: int, group: int, pair: tuple[str, str]) -> Row:
    item, right = pair
    others = dice.sample([words for i, (words, _) in enumerate(SYNONYMS) if i != group], OPTIONS - 1)
    candidates = [dice.pick(words) for words in others]
    place = dice.number(0, OPTIONS - 1)
    candidates.insert(place, right)
    texts = {"item": item, "candidate_answers": candidates}
    return {"id": f"s{number}", **texts, "label": place, "meta": {"comment": ""}}
