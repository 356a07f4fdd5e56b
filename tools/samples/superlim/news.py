"""swedn: short articles and their summaries."""

from operator import itemgetter

from samples.dice import Dice
from samples.superlim.rows import Row, Splits, lines, splits

TOWNS = ("Lund", "Umeå", "Kiruna", "Visby", "Falun", "Kalmar", "Motala", "Växjö")
DAYS = ("måndagen", "tisdagen", "onsdagen", "torsdagen", "fredagen")
# By category: a headline, the news, its summary, and further sentences. {thing} is one of the things.
EVENTS = {
    "inrikes": (
        ("en ny skola", "ett nytt bibliotek", "en ny bro", "ett äldreboende"),
        "{town} bygger",
        "Kommunen i {town} [planerar att bygga|ska bygga] {thing} för {number} miljoner kronor.",
        "{town} bygger {thing} för {number} miljoner kronor.",
        lines("""
            [Arbetet|Bygget] [börjar|inleds] på {day} och väntas pågå i [två|tre] år.
            [Oppositionen|Ett parti] [kritiserar|stöder] beslutet.
            [Grannarna|Invånarna] har [länge väntat|klagat] på förslaget.
            """),
    ),
    "sport": (
        ("finalen", "derbyt", "cupmatchen", "premiären"),
        "Seger för {town}",
        "{town} vann {thing} mot {other} med {number} mål mot ett på {day}.",
        "{town} vann {thing} mot {other}.",
        lines("""
            [Målvakten|Anfallaren] var matchens [bästa|viktigaste] spelare.
            [Publiken|Klacken] sjöng [hela kvällen|i regnet].
            [Tränaren|Kaptenen] var [nöjd|rörd] efter matchen.
            """),
    ),
    "väder": (
        ("tågen", "bussarna", "bilarna", "färjorna"),
        "Snökaos i {town}",
        "Ett kraftigt snöfall stoppade {thing} i {town} under {day}.",
        "Snöfall stoppade {thing} i {town}.",
        lines("""
            [Skolor|Affärer] höll stängt och [många|hundratals] blev hemma.
            Det föll {number} centimeter snö på [en natt|några timmar].
            [Ovädret|Snön] [drar vidare|försvinner] i [morgon|helgen].
            """),
    ),
    "ekonomi": (
        ("fabriken", "bryggeriet", "sågverket", "lagret"),
        "Nya jobb i {town}",
        "Ägaren till {thing} i {town} [ska anställa|söker] {number} personer, skriver lokaltidningen på {day}.",
        "{number} personer får jobb när {thing} i {town} växer.",
        lines("""
            [Efterfrågan|Försäljningen] har ökat [kraftigt|i flera år].
            [Facket välkomnar|Kommunen välkomnar|Facket är positivt till] beskedet.
            [Löner|Skatter] [diskuteras|förhandlas] [nu|i höst].
            """),
    ),
}
SCENES = lines("""
    Det är [tidig morgon|sen kväll] [på torget|vid stationen] i {town}.
    [Alla|Många] i {town} talar om [samma sak|nyheten].
""")
QUOTES = lines("""
    – [Det är en stor dag|Vi är mycket nöjda|Det blir inte lätt], säger [en talesperson|ordföranden].
    – [Jag är inte förvånad|Äntligen händer det något], säger [en invånare|en pensionär].
""")


def articles() -> Splits:
    dice, numbers = Dice("swedn"), iter(range(1, 10**6))

    def row() -> Row:
        category = dice.pick(list(EVENTS))
        things, headline, news, summary, further = EVENTS[category]
        town, other = dice.sample(TOWNS, 2)
        words = {
            "town": town,
            "other": other,
            "thing": dice.pick(things),
            "day": dice.pick(DAYS),
            "number": str(dice.number(3, 60)),
        }
        sentences = [news, *dice.sample(further, dice.number(2, 3)), dice.pick(QUOTES)]
        if dice.chance(0.25):  # the news comes second
            sentences.insert(0, dice.pick(SCENES))
        article = " ".join(dice.fill(sentence, **words) for sentence in sentences)
        texts = {"headline": dice.fill(headline, **words), "summary": dice.fill(summary, **words), "article": article}
        return {"id": next(numbers), **texts, "article_category": category}

    return splits(row, itemgetter("article"), {"train": 80, "dev": 40, "test": 20})
