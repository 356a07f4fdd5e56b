"""Swedish words that several tasks of `superlim-sample` use."""

from typing import NamedTuple


class Noun(NamedTuple):
    article: str  # en or ett
    singular: str
    definite: str


def _nouns(text: str) -> tuple[Noun, ...]:
    """Nouns from words such as `en-hund-hunden`."""
    return tuple(Noun(*word.split("-")) for word in text.split())


NOUNS = {
    "animal": _nouns(
        "en-hund-hunden en-katt-katten en-häst-hästen en-gris-grisen ett-lamm-lammet ett-får-fåret en-get-geten"
    ),
    "food": _nouns(
        "ett-äpple-äpplet ett-päron-päronet en-ost-osten en-kaka-kakan en-korv-korven ett-ägg-ägget en-banan-bananen"
    ),
    "vehicle": _nouns(
        "en-bil-bilen en-buss-bussen en-cykel-cykeln en-båt-båten ett-tåg-tåget en-moped-mopeden ett-skepp-skeppet"
    ),
    "clothes": _nouns(
        "en-jacka-jackan en-tröja-tröjan en-hatt-hatten ett-skärp-skärpet en-kjol-kjolen ett-förkläde-förklädet"
    ),
    "furniture": _nouns(
        "en-stol-stolen ett-bord-bordet en-säng-sängen en-hylla-hyllan ett-skåp-skåpet en-soffa-soffan"
    ),
    "building": _nouns(
        "ett-hus-huset en-kyrka-kyrkan en-skola-skolan ett-slott-slottet en-stuga-stugan ett-torn-tornet"
    ),
}
# What is done to the things of each class: present and past.
VERBS = {
    "animal": (("matar", "matade"), ("klappar", "klappade"), ("jagar", "jagade"), ("lockar", "lockade")),
    "food": (
        ("smakar på", "smakade på"),
        ("skalar", "skalade"),
        ("tuggar på", "tuggade på"),
        ("serverar", "serverade"),
    ),
    "vehicle": (("lånar", "lånade"), ("reparerar", "reparerade"), ("startar", "startade"), ("parkerar", "parkerade")),
    "clothes": (("provar", "provade"), ("tvättar", "tvättade"), ("lagar", "lagade"), ("stryker", "strök")),
    "furniture": (
        ("flyttar", "flyttade"),
        ("monterar", "monterade"),
        ("snickrar", "snickrade"),
        ("dammar av", "dammade av"),
    ),
    "building": (("ritar", "ritade"), ("renoverar", "renoverade"), ("river", "rev"), ("besöker", "besökte")),
}
ADJECTIVES = (  # after en, after ett, after den and det
    *(("stor", "stort", "stora"), ("ny", "nytt", "nya"), ("gammal", "gammalt", "gamla"), ("fin", "fint", "fina")),
    *(("vacker", "vackert", "vackra"), ("billig", "billigt", "billiga"), ("konstig", "konstigt", "konstiga")),
)
NAMES = {
    "hon": ("Anna", "Karin", "Lena", "Maria", "Sara", "Eva", "Ida", "Klara"),
    "han": ("Erik", "Lars", "Johan", "Nils", "Olle", "Per", "Sven", "Gustav"),
}
# Three synonyms, and a reason for being so: the words of a group occur in the same contexts.
SYNONYMS = (
    (("glad", "munter", "uppsluppen"), "hade vunnit en resa"),
    (("ledsen", "sorgsen", "nedstämd"), "saknade sin vän"),
    (("snabb", "rask", "kvick"), "ville hinna med tåget"),
    (("modig", "tapper", "djärv"), "vågade rädda barnet"),
    (("rädd", "skrämd", "ängslig"), "såg en orm"),
    (("arg", "ilsken", "vred"), "hade blivit lurad"),
    (("klok", "vis", "förståndig"), "läste många böcker"),
    (("dum", "korkad", "enfaldig"), "trodde på allt"),
    (("vacker", "skön", "fager"), "bar vita kläder"),
    (("flitig", "arbetsam", "strävsam"), "städade hela dagen"),
    (("lat", "maklig", "loj"), "låg kvar i sängen"),
    (("rik", "förmögen", "välbärgad"), "ägde tre gårdar"),
    (("fattig", "utblottad", "medellös"), "ägde ingenting"),
    (("envis", "ihärdig", "enträgen"), "vägrade ge upp"),
    (("tyst", "ljudlös", "stillsam"), "smög in i rummet"),
    (("trött", "sliten", "utmattad"), "hade arbetat hela natten"),
    (("stark", "kraftig", "muskulös"), "lyfte tunga stenar"),
    (("snål", "girig", "knusslig"), "sparade varje krona"),
    (("konstig", "underlig", "besynnerlig"), "talade med träden"),
    (("artig", "hövlig", "belevad"), "bugade för alla"),
)
