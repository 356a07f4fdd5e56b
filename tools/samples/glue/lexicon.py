"""Words of the embedded suite `glue-sample`."""

# A person or animal, what it is in general, and its plural.
SUBJECTS = [
    ("man", "person", "men"), ("woman", "person", "women"), ("boy", "child", "boys"), ("girl", "child", "girls"),
    ("dog", "animal", "dogs"), ("cat", "animal", "cats"), ("horse", "animal", "horses"), ("bird", "animal", "birds"),
    ("farmer", "person", "farmers"), ("teacher", "person", "teachers"), ("soldier", "person", "soldiers"), ("nurse", "person", "nurses"),
]  # fmt: skip
# A verb: third person, plural, -ing form, and a verb that excludes it.
ACTIONS = [
    ("runs", "run", "running", "sleeping"), ("sleeps", "sleep", "sleeping", "running"), ("eats", "eat", "eating", "swimming"),
    ("swims", "swim", "swimming", "eating"), ("waits", "wait", "waiting", "jumping"), ("jumps", "jump", "jumping", "waiting"),
    ("sits", "sit", "sitting", "walking"), ("walks", "walk", "walking", "sitting"), ("sings", "sing", "singing", "drinking"),
    ("drinks", "drink", "drinking", "singing"), ("works", "work", "working", "resting"), ("rests", "rest", "resting", "working"),
]  # fmt: skip
PLACES = {
    "near": ["in the park", "by the river", "on the beach", "in the kitchen", "near the bridge", "in the garden", "behind the house",
             "on the street"],
    "far": ["in the harbour", "on the mountain", "at the market", "in the library", "near the airport", "on the ship"],
}  # fmt: skip
COLOURS = ["red", "blue", "green", "white", "black", "yellow"]
ADJECTIVES = ["old", "young", "tall", "small", "quiet", "tired"]
THINGS = ["film", "story", "plot", "cast", "music", "script", "ending", "dialogue", "scene", "director"]
GOOD = ["charming", "moving", "clever", "funny", "brilliant", "warm", "gripping", "fresh", "delightful", "honest"]
BAD = ["dull", "flat", "tedious", "clumsy", "shallow", "messy", "lifeless", "silly", "tired", "hollow"]
COMPANIES = ["Norton", "Avalon", "Kestrel", "Meridian", "Halden", "Corvus", "Lindqvist", "Tamar", "Oakley", "Solway"]
EVENTS = [
    ("said profits rose {n} percent", "reported a rise of {n} percent in earnings", "said profits fell {n} percent"),
    ("will close {n} shops next year", "plans to shut {n} of its stores in the coming year", "will open {n} shops next year"),
    ("bought a rival for ${n} million", "acquired a competitor in a deal worth ${n} million", "sold its rail unit for ${n} million"),
    ("named a new chief after {n} months", "has appointed a chief executive, {n} months on", "dismissed its auditor after {n} months"),
]  # fmt: skip
DAYS = ["on Monday", "on Tuesday", "on Wednesday", "on Thursday", "on Friday"]
TOPICS = ["bread", "cheese", "soap", "paper", "wool", "glass", "honey", "paint"]
QUESTIONS = [
    ("How do I make {x} at home?", "What is the best way to make {x} myself?", "Where can I buy cheap {x}?"),
    ("Why is {x} so expensive?", "What makes {x} cost so much?", "How do I repair old {x}?"),
    ("Who invented {x}?", "What is the name of the inventor of {x}?", "Which country exports the most {x}?"),
]  # fmt: skip
TOWNS = ["Arden", "Belford", "Carrow", "Dunmore", "Elsing", "Farley", "Garstow", "Holme", "Ingleby", "Kilby"]
# A question about a town, and a sentence that answers it.
FACTS = [
    ("When was {x} founded?", "{x} was founded in {y} by wool traders."),
    ("How many people live in {x}?", "About {y} people live in {x} and its villages."),
    ("Which river flows through {x}?", "The river Wend flows through {x} for {y} miles."),
    ("When did the railway reach {x}?", "The railway reached {x} in {y}, after long debates."),
]
# Two things that a pronoun may mean, and the reason that decides.
SCHEMAS = [
    ("The {a} does not fit into the {b} because it is too large.", "The {x} is too large.", 0),
    ("The {a} does not fit into the {b} because it is too small.", "The {x} is too small.", 1),
    ("I put the {a} on the {b} and it broke under the weight.", "The {x} broke.", 1),
    ("I threw the {a} at the {b} and it flew straight.", "The {x} flew straight.", 0),
]
OBJECTS = ["book", "cup", "box", "shelf", "table", "stone", "bag", "jar", "drum", "lamp"]
