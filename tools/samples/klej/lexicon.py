"""The words and sentence frames of the embedded suite `klej-sample`: Polish, written for it.

In a frame, `[a|b|c]` means one of its alternatives, and `{x}` is replaced by a word. Frames use names and nouns only in the
nominative, or in an accusative of the same form, so that no word has to be inflected."""


def _lines(text: str) -> tuple[str, ...]:
    """The lines of a block, stripped, without empty lines."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Named entities: stems and endings. Some stems are used only in the training rows, the rest only in the others.
SURNAMES = _words(
    "Jankow Kozłow Zalew Borow Makow Wilczew Sadow Grabow Olszew Malinow Rutkow Tarnow Bielew Czajkow Kruszew Lasow "
    "Pawłow Gajew Nowakow Ostrow Piotrow Rakow Sikorow Tomaszew Urbanow Witkow Zarew Adamow Bartow Dobrow Filipow "
    "Górow Jasnow Klonow Ludwikow Michałow Orłow Palew Rogow Stawow Turow Wierzbow Żukow Bukow Cichow Dudkow"
)
SURNAME_ENDINGS = {"m": ("ski", "ski", "icz"), "f": ("ska", "ska", "icz")}
FIRST_NAMES = {
    "m": _words("Jan Piotr Adam Marek Tomasz Paweł Krzysztof Andrzej Michał Jerzy Stefan Witold Henryk Zbigniew"),
    "f": _words("Anna Maria Ewa Zofia Barbara Helena Irena Joanna Marta Teresa Wanda Alicja Krystyna Dorota"),
}
PLACES = _words(
    "Bork Jasion Sokoł Grab Dęb Lip Wilk Zając Kruk Rad Mal Star Brzez Olch Krasn Jawor Sosn Klon Wierzb Topol Kamion "
    "Piask Glin Ług Mokr Biał Czern Żyt Len Mak Żab Rak Orl Jastrzęb Sarn Bobr Wrzos Ostroż Bud Kuźn Młyn Most"
)
PLACE_ENDINGS = ("ów", "owo", "owice")
ORGANISATIONS = _words(
    "Agro Stal Chemo Drewo Elektro Inter Euro Trans Bio Hydro Mar Gazo Tele Auto Budo Termo Petro Foto Info Uni Wodo "
    "Farmo Tekso Meblo Kolejo Cukro Metalo Papiero Szkło Opto Nafto Mleko Zbożo Rybo Geo Avio Neuro Aqua Labo Druko"
)
ORGANISATION_ENDINGS = ("pol", "pol", "mex", "bud", "tech")
ORGANISATION_KINDS = _words("Bank Fundacja Spółka Zakłady Stowarzyszenie Klub Wydawnictwo Przedsiębiorstwo")
WATERS = _words(
    "Biel Sol Jas Wisz Krzep Rudn Bystrz Czarn Zimn Głęb Kręt Sucz Łosos Pstrąż Kalin Wid Szum Kwis Rop Tysm Barycz "
    "Wełn Osob Nysk Prosn Drwęc Krut Łyn Omul Radun Brd Gw Soł Skaw Rab Uszw Mleczn Lubacz Wiar Strwi Czeremosz Stryj"
)
WATER_ENDINGS = ("awa", "ica", "anka")
HEIGHT_ENDINGS = ("i Wierch", "owa Góra", "owe Jezioro", "awa", "ica", "anka")
MONTHS = _words("stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia")
WEEKDAYS = _words("poniedziałek wtorek piątek czwartek")
THINGS = {
    "m": _words("płaszcz stół zeszyt kubek obraz rower dywan koszyk talerz parasol zegar klucz list chleb kapelusz"),
    "f": _words("lampa książka szafa gazeta kanapa poduszka butelka torba łyżka koszula kartka miska czapka"),
    "n": _words("krzesło okno lustro biurko pudełko radio jabłko ciasto pióro łóżko wiadro mydło"),
}
THING_ADJECTIVES = _words("stary nowy zielony duży mały drewniany ciężki pusty biały drogi piękny zepsuty czysty")
# Frames that give no hint at the kind of name: only the name itself does.
NAME_FRAMES = _lines("""
    [Na kartce|Na okładce|W nagłówku|Na tablicy] [napisano|wypisano] : {x} .
    " {x} " - [przeczytał|przeczytała|powtórzyła] [głośno|cicho|powoli] .
    [Hasło krzyżówki|Odpowiedź|Tytuł rozdziału|Podpis] brzmi : {x} .
    [Zapamiętał|Usłyszała|Zanotowała] tylko jedno : {x} .
    - {x} - [odparł|odparła|szepnęła] [po chwili|bez namysłu] .
    {x} - [tyle wiemy na pewno|to cała odpowiedź|od tego trzeba zacząć] .
    [Wszyscy|Oni] pytali [nas|mnie] o to samo : {x} .
""")
ENTITY_FRAMES = {
    "persName": _lines("""
        {x} [pracuje w szkole|pisze wiersze|gra na skrzypcach|wraca do domu] .
        Do pokoju wchodzi {x} i [siada przy oknie|zdejmuje płaszcz|wita gości] .
        - [Nazywam się|Nazywa się] {x} - [powiedział|powiedziała] cicho .
        [Naszym gościem|Autorem książki|Trenerem drużyny|Świadkiem zdarzenia] jest {x} .
        {x} [mówi|twierdzi|przyznaje] , że [wróci jutro|nie zna prawdy|kocha teatr] .
        [Głos zabiera|Nagrodę odbiera|Na scenie śpiewa] {x} .
        """),
    "placeName": _lines("""
        [Miejscowość|Gmina|Wieś] {x} [ma nową szkołę|czeka na wodociąg|liczy tysiąc mieszkańców] .
        [Mieszkamy|Urodził się|Kupili dom] w miejscowości {x} .
        [Autobus|Pociąg] do stacji {x} [odjeżdża punktualnie|jest opóźniony] .
        Miasto {x} [leży przy granicy|buduje ratusz|zaprasza na jarmark] .
        W powiecie {x} [zamknięto trzy szkoły|wybrano nową radę] .
        """),
    "geogName": _lines("""
        [Rzeka|Rzeczka] {water} [wylała z brzegów|zamarzła|płynie przez łąki] .
        [Nad doliną|Za lasem|Na horyzoncie] [wznosi się|widnieje|rozciąga się] {x} .
        Szlak [prowadzi|wiedzie] [w kierunku|obok] grzbietu {x} .
        [Turyści|Wędkarze|Kajakarze] lubią [tę okolicę|ten brzeg] : {x} .
        Nad strumieniem {water} [rosną olchy|żyją bobry] .
        """),
    "orgName": _lines("""
        {x} [zatrudnia stu pracowników|ogłasza przetarg|podpisuje umowę|zwiększa zyski] .
        [Zarząd|Prezes|Rzecznik] firmy {x} [zapowiada zwolnienia|nie komentuje sprawy] .
        [Akcje|Udziały] spółki {x} [drożeją|tanieją] .
        {x} [wspiera młodych naukowców|zbiera pieniądze na leczenie dzieci|organizuje konkurs] .
        [Umowę wygrał koncern|Dostawcą jest firma] {x} .
        """),
    "time": _lines("""
        [Spotkanie|Zebranie|Koncert] [zaczyna się|kończy się|zaplanowano] {x} .
        [Wypadek|Spór|Remont] [zdarzył się|zaczął się] {x} .
        {x} [zamknięto fabrykę|spadł śnieg|przyszła wiadomość] .
        [Czekaliśmy|Wrócili|Wyjechała] dopiero {x} .
        Termin minął {x} , a [odpowiedzi nie ma|nikt nie przyszedł] .
        """),
    "noEntity": _lines("""
        [Na półce|W kącie|Pod ścianą] [stoi|leży] {x} .
        [Przyda|Znajdzie] się tu {x} .
        [Nie wiem|Nikt nie wie] , [dlaczego tak się stało|co będzie dalej|kto ma rację] .
        [Dzieci|Goście|Sąsiedzi] [śmiali się głośno|wyszli bez słowa|długo rozmawiali] .
        - [Chyba|Pewnie] [masz rację|trzeba poczekać|już za późno] - [odparł|odparła] .
        To tylko {x} , [nic więcej|nie ma się czym martwić] .
        [Deszcz|Wiatr] [ustał|wzmógł się] i [zrobiło się cicho|wszyscy poszli spać] .
        """),
}

# Captions: each subject and action has synonyms and a more general form.
SUBJECTS = (
    (("mężczyzna", "pan"), "dorosły", "żaden"),
    (("kobieta", "pani"), "osoba", "żadna"),
    (("chłopiec", "chłopak"), "dziecko", "żaden"),
    (("sportowiec", "zawodnik"), "człowiek", "żaden"),
    (("policjant", "funkcjonariusz"), "mundurowy", "żaden"),
    (("kucharz", "kuchmistrz"), "pracownik", "żaden"),
    (("żołnierz", "wojskowy"), "mundurowy", "żaden"),
    (("kot", "kotek"), "zwierzę", "żaden"),
)
ACTIONS = (
    (("gra na gitarze", "brzdąka na gitarze"), "gra na instrumencie"),
    (("jedzie na rowerze", "pedałuje na rowerze"), "jedzie pojazdem"),
    (("biegnie", "pędzi"), "porusza się"),
    (("śpi", "drzemie"), "odpoczywa"),
    (("tańczy", "pląsa"), "bawi się"),
    (("rozmawia przez telefon", "dzwoni z telefonu"), "rozmawia"),
    (("rzuca piłką", "ciska piłką"), "bawi się piłką"),
    (("pije z kubka", "popija z kubka"), "pije"),
)
SCENES = (
    ("w parku", "na skwerze"),
    ("na ulicy", "na jezdni"),
    ("na plaży", "na piasku"),
    ("w kuchni", "przy kuchence"),
    ("w ogrodzie", "między grządkami"),
    ("w lesie", "między drzewami"),
)
OUTFITS = ("w czerwonej czapce", "w zielonym szaliku", "z dużym plecakiem", "w okularach", "z kolorową wstążką")

# Tweets.
INSULTS = _words(
    "głąb baran osioł błazen leń nieuk pajac tępak dureń mięczak krętacz pyszałek gbur prostak tchórz nudziarz "
    "fajtłapa patałach cymbał gamoń"
)
ABUSE_FRAMES = _lines("""
    [Ale|Straszny|Niezły] z ciebie {x}, [wstydź się|idź spać|daj sobie spokój].
    Taki {x} jak ty [nigdy tego nie zrozumie|powinien milczeć|nie ma tu nic do gadania].
    Ty {x}, [naucz się czytać|przestań kłamać|wracaj do przedszkola].
    [Widać|Wiadomo], że to {x} i [kłamie|bredzi] jak zawsze.
    Co za {x}, [aż wstyd czytać|nawet pisać nie umie|szkoda na niego czasu].
    "Ekspert", a [w rzeczywistości|naprawdę] zwykły {x}.
    [Zamilknij wreszcie|Zejdź mi z oczu], [nikt cię tu nie chce|wszyscy mają cię dość].
    [Masz pusto w głowie|Ośmieszasz się], [lepiej nic nie pisz|wracaj do przedszkola].
""")
HARMLESS_FRAMES = _lines("""
    Na łące [stał|pasł się] {x}, [a obok jego pan|i patrzył na nas].
    W tej [sztuce|bajce|komedii] najlepszy był {x}, [polecam|szczerze się uśmiałem].
    Mój kot to [straszny|prawdziwy] {x}, [śpi cały dzień|kocham go].
    Ja sam to {x}, [zapomniałem o urodzinach żony|znowu spóźniłem się na mecz].
""")
CHAT_FRAMES = _lines("""
    [Dobry|Świetny|Słaby|Nudny] mecz, [sędzia się nie popisał|bramkarz uratował wynik|liczę na rewanż].
    [Dziękuję|Dzięki] za [odpowiedź|link|pomoc], [miłego dnia|pozdrawiam|sprawdzę wieczorem].
    [Zgadzam się|Nie zgadzam się], [podatki są za wysokie|ustawa wymaga poprawek|budżet tego nie wytrzyma].
    Kto [wygra|zagra] w [sobotę|niedzielę]? [Stawiam na gospodarzy|Trudno powiedzieć].
    [Pogoda|Droga] dziś [fatalna|okropna], [zostaję w domu|uważajcie na siebie|wracam pociągiem].
    [Gratulacje|Brawo], [należało się|piękny gol|tak trzymać], [cała Polska się cieszy|jestem dumny].
    [Minister|Burmistrz] [znowu obiecuje|mówi o reformie|spotkał się z nauczycielami], [zobaczymy|poczekamy].
    Nie [rozumiem|wiem], [skąd te dane|o co chodzi w tej sprawie|dlaczego pociąg się spóźnia].
    Też [tak myślę|o tym czytałem], [ciekawy artykuł|szkoda, że tak krótko].
    [Transfer|Kontrakt] [potwierdzony|odwołany], [trener milczy|prezes zadowolony].
    Ta decyzja jest [głupia|zła|niepotrzebna], [ale trudno|trzeba ją zmienić].
    [Polecam|Czytałem] ten [wywiad|tekst], [dobre pytania|dużo prawdy], ["samo życie"|warto].
""")
TWEET_TAILS = ("", "", "", " ;)", " :)", " 😀", " #mecz", " #polityka", " Pozdrawiam.", " Serio.", " I tyle.")

# Reviews: adjectives by strength from -2 to 2; for each field, nouns with their gender and neutral sentences.
STRENGTHS = {
    -2: _words("fatalny okropny tragiczny koszmarny beznadziejny skandaliczny obrzydliwy żałosny"),
    -1: _words("słaby kiepski marny niedbały brzydki nieprzyjemny niesolidny rozczarowujący"),
    0: _words("zwykły przeciętny standardowy typowy normalny znośny umiarkowany"),
    1: _words("dobry miły porządny solidny przyjemny ładny staranny udany"),
    2: _words("znakomity wspaniały rewelacyjny doskonały fantastyczny cudowny wyśmienity bezbłędny"),
}
# The adjectives for the fields that are not in the training rows; most of them also occur in the training rows.
OUTSIDE_STRENGTHS = {
    -2: _words("fatalny okropny koszmarny beznadziejny chaotyczny"),
    -1: _words("słaby kiepski nudny niesolidny"),
    1: _words("dobry solidny miły ciekawy udany"),
    2: _words("wspaniały rewelacyjny doskonały fantastyczny niezawodny"),
}
VERDICTS = {
    -2: _lines("""
        [Nigdy więcej|Nigdy tu nie wrócę|Omijać z daleka]
        [Strata czasu i pieniędzy|Jestem wściekły|Totalna porażka]
        [Skandal|Koszmar] , nie polecam [nikomu|najgorszemu wrogowi]
        """),
    -1: _lines("""
        [Spodziewałem|Spodziewałam] się więcej
        Niestety [raczej nie polecam|jestem zawiedziony|jestem rozczarowana]
        [Za tę cenę można znaleźć coś lepszego|Są lepsze miejsca|Szkoda pieniędzy]
        """),
    0: _lines("""
        [Ani dobrze , ani źle|Bez zachwytu , bez rozczarowania|Da się wytrzymać]
        [Za tę cenę może być|Nic szczególnego|Trudno ocenić]
        """),
    1: _lines("""
        [Raczej polecam|Jestem zadowolony|Jestem zadowolona]
        [Warto spróbować|Warto było|Chętnie skorzystam znowu]
        """),
    2: _lines("""
        [Gorąco|Z całego serca] polecam [każdemu|wszystkim]
        [Na pewno tu wrócę|Jestem zachwycony|Jestem zachwycona|Po prostu ideał]
        [Nic dodać , nic ująć|Lepiej być nie może|Najwyższa półka]
        """),
}
ASPECT_FRAMES = _lines("""
    {noun} {adjective}
    {noun} jest {much}{adjective}
    [Moim zdaniem|Według mnie|Jak dla nas] {noun} {adjective}
    {adjective} {noun}
    {noun} [naprawdę|po prostu|wyjątkowo] {adjective}
""")
ASPECTS = {
    "hotel": {
        "m": _words("pokój basen widok personel hotel parking"),
        "f": _words("obsługa łazienka recepcja restauracja lokalizacja kuchnia"),
        "n": _words("śniadanie łóżko jedzenie sprzątanie wyposażenie"),
    },
    "lekarz": {
        "m": _words("lekarz gabinet kontakt zabieg wywiad"),
        "f": _words("wizyta rejestracja diagnoza opieka terapia atmosfera"),
        "n": _words("badanie leczenie podejście przyjęcie tłumaczenie"),
    },
    "sprzęt": {
        "m": _words("telefon ekran aparat zasięg głośnik kabel"),
        "f": _words("bateria obudowa instrukcja kamera ładowarka"),
        "n": _words("opakowanie wykonanie menu brzmienie zdjęcie"),
    },
    "uczelnia": {
        "m": _words("wykład egzamin prowadzący podręcznik przedmiot"),
        "f": _words("sala prezentacja grupa ocena biblioteka"),
        "n": _words("kolokwium ćwiczenie seminarium laboratorium"),
    },
    "zakupy": {
        "m": _words("towar materiał odkurzacz kolor zapach produkt czajnik zegarek plecak rozmiar"),
        "f": _words("paczka dostawa jakość cena pompka lampka bluza zabawka uszczelka"),
        "n": _words("pudełko etui szkło działanie wykończenie mocowanie ostrze zapięcie"),
    },
}
FACTS = {
    "hotel": _lines("""
        Hotel [stoi przy głównej ulicy|ma cztery piętra|leży blisko dworca]
        [Śniadanie podają|Recepcja działa] od godziny [6|7|8]
        [Przyjechaliśmy|Byliśmy tam] w [lipcu|maju|sierpniu] na [trzy|cztery|dwie] noce
        W pokoju [jest|stoi] [biurko|szafa|czajnik|telewizor]
        Parking [znajduje się za budynkiem|mieści dwadzieścia aut]
        """),
    "lekarz": _lines("""
        [Gabinet|Przychodnia] mieści się na [pierwszym|drugim] piętrze
        [Wizyta trwała|Czekałam] [dziesięć|piętnaście|trzydzieści] minut
        Lekarz przyjmuje we [wtorki|czwartki] , [także po południu|tylko rano]
        [Dostałem|Dostałam] [receptę|skierowanie na badania]
        [Szukam opinii o tym doktorze|Czy ktoś leczył się u tego specjalisty] ?
        """),
    "sprzęt": _lines("""
        Telefon [waży|kosztuje] [mniej niż poprzedni model|tyle co poprzedni]
        W zestawie [jest|znajduje się] [kabel|instrukcja|etui]
        [Kupiłem|Kupiłam] go w [marcu|grudniu] przez internet
        Ekran ma [pięć|sześć] cali
        Sklep [stoi przy głównej ulicy|znajduje się blisko dworca]
        Dostałam go w [lipcu|maju]
        """),
    "uczelnia": _lines("""
        [Wykład|Seminarium] odbywa się w [środy|piątki] o ósmej
        Egzamin [składa się z dwóch części|jest pisemny|trwa godzinę]
        Na zajęcia chodzi [trzydzieści|pięćdziesiąt] osób
        Lista lektur [jest na stronie|wisi na drzwiach]
        Sala mieści się na [pierwszym|drugim] piętrze
        Ćwiczenia trwały [piętnaście|trzydzieści] minut
        """),
    "zakupy": _lines("""
        [Zamówiłem|Zamówiłam] [w poniedziałek|tydzień temu] , [kurier przyjechał w środę|odebrane w punkcie]
        [To mój drugi egzemplarz|Kupione na prezent|Wziąłem kolor czarny]
        Używam od [tygodnia|miesiąca|roku]
        """),
}

# Questions about buildings, whose accusative has the form of the nominative, and sentences that describe each building.
BUILDINGS = {
    "most": _lines("""
        [Kamienne|Stalowe] przęsła łączą oba brzegi rzeki
        Przeprawa [opiera się na czterech filarach|dźwiga także tory tramwajowe]
        """),
    "zamek": _lines("""
        [Wysokie mury|Baszty] chroniły króla i rycerzy
        W warowni [mieszkał książę z dworem|trzymano zbroje i armaty]
        """),
    "teatr": _lines("""
        Na scenie [grali znani aktorzy|wystawiano dramaty i opery]
        Kurtyna i [widownia|garderoby] [zachwycają publiczność|przypominają o premierach]
        """),
    "stadion": _lines("""
        Na trybunach [zasiadają kibice|mieszczą się tysiące fanów]
        Murawa i [bieżnia|bramki] [służą piłkarzom|czekają na lekkoatletów]
        """),
    "szpital": _lines("""
        [Lekarze|Pielęgniarki] leczą tu chorych na pięciu oddziałach
        Pacjenci [czekają w izbie przyjęć|chwalą sale operacyjne]
        """),
    "browar": _lines("""
        Piwo [dojrzewa w kadziach|warzono z chmielu i słodu]
        Beczki i [kadzie|butelki] [pachną chmielem|stoją w piwnicach]
        """),
}
QUESTIONS = {
    "who": _lines("""
        kto [zaprojektował|zbudował|ufundował] {x}?
        [jaki architekt|który budowniczy] [wzniósł|stworzył] {x}?
        """),
    "when": _lines("""
        kiedy [zbudowano|otwarto|wzniesiono] {x}?
        w którym [roku|wieku] powstał {x}?
        """),
    "where": _lines("""
        gdzie [znajduje się|leży|stoi] {x}?
        w jakiej [dzielnicy|części miasta] [znajduje się|stoi] {x}?
        """),
    "why": _lines("""
        dlaczego [zamknięto|przebudowano|opuszczono] {x}?
        z jakiego powodu [zamknięto|rozebrano] {x}?
        """),
}
ANSWERS = {
    "who": _lines("""
        [Projekt|Plany] [przygotował|sporządził] [architekt|inżynier|mistrz] {name}
        [Fundatorem|Twórcą|Budowniczym] był {name}
        """),
    "when": _lines("""
        [Budowę|Prace] [ukończono|rozpoczęto] w {year} roku
        [Uroczyste otwarcie|Poświęcenie] odbyło się {day} {year} roku
        """),
    "where": _lines("""
        Obiekt [znajduje się|położony jest] [na wschodnim krańcu|w północnej dzielnicy|na obrzeżach] miasta {place}
        [Wznosi się|Usytuowano go] przy [rynku|drodze] w miejscowości {place}
        """),
    "why": _lines("""
        [Powodem zamknięcia|Przyczyną] [był pożar|była powódź|był zły stan fundamentów|był brak pieniędzy]
        [Z powodu|Wskutek] [wojny|pożaru|powodzi|kryzysu] [zaniechano użytkowania|obiekt opuszczono]
        """),
}
REMARKS = _lines("""
    Obiekt [wpisano do rejestru zabytków|wielokrotnie remontowano|chętnie odwiedzają turyści]
    [Kroniki|Źródła] [mówią o nim niewiele|wspominają go często]
    [Okolica|Dzielnica] [jest gęsto zabudowana|słynie z dobrej kuchni]
    Miejscowi nazywają [to miejsce|go] "[Stary|Samotnik|Olbrzym]"
""")

# News: for each event, sentences of the article and of its summary. Neighbours in the order (1st and 2nd, 3rd and 4th, …)
# have the same topic and share some words.
NEWS = {
    "powódź": (
        _lines("""
            [Woda|Rzeka] [przerwała wały|wystąpiła z brzegów] [w nocy|nad ranem] i zalała {number} domów.
            [Strażacy|Ratownicy] ewakuowali mieszkańców łodziami.
            Poziom wody [przekroczył stan alarmowy|wciąż rośnie].
            Worki z piaskiem [układają żołnierze|rozwożą ochotnicy].
            """),
        _lines("""
            [Powódź|Wielka woda] [zniszczyła|zalała] domy.
            Po [przerwaniu wałów|ulewach] [ewakuowano ludzi|mieszkańcy uciekali łodziami].
            """),
    ),
    "pożar": (
        _lines("""
            [Ogień|Pożar] wybuchł [w hali|w magazynie] i strawił {number} metrów dachu.
            [Strażacy|Ratownicy] gasili płomienie [całą noc|do rana].
            Kłęby dymu [widziano z daleka|zmusiły mieszkańców do ucieczki].
            Biegły [podejrzewa podpalenie|bada zwarcie instalacji].
            """),
        _lines("""
            [Hurtownia|Hala] [doszczętnie spłonęła|stanęła w płomieniach].
            Strażacy [opanowali ogień|walczyli z dymem]; [możliwe podpalenie|przyczynę bada biegły].
            """),
    ),
    "mecz": (
        _lines("""
            [Gospodarze|Piłkarze] [strzelili gola|objęli prowadzenie] w {number} minucie.
            Bramkarz [obronił rzut karny|popełnił błąd].
            [Kibice|Trenerzy] [czekali na zwycięstwo|chwalili zawodników].
            W tabeli drużyna [awansowała|spadła] na czwarte miejsce.
            """),
        _lines("""
            [Drużyna wygrała mecz|Piłkarze zremisowali] po [golu w końcówce|rzucie karnym].
            Spotkanie piłkarskie [rozstrzygnął bramkarz|dało awans w tabeli].
            """),
    ),
    "wyścig": (
        _lines("""
            [Kolarze|Zawodnicy] [pokonali|przejechali] {number} kilometrów górskiej trasy.
            Na finiszu [zaatakował lider|peleton się rozerwał].
            [Kibice|Trenerzy] [oklaskiwali zwycięstwo|czekali na zawodników] na mecie.
            Żółtą koszulkę [zachował Włoch|stracił faworyt].
            """),
        _lines("""
            [Etap wyścigu|Górski odcinek] [wygrał lider|rozstrzygnął finisz].
            Kolarz [stracił koszulkę|samotnie dojechał do mety].
            """),
    ),
    "festiwal": (
        _lines("""
            [Festiwal|Przegląd] [otworzył|zakończył] koncert dla {number} widzów.
            [Widownia|Publiczność] [nagrodziła skrzypaczkę|oklaskiwała pianistę].
            Orkiestra [zagrała symfonię|wystąpiła z chórem].
            Bilety [sprzedano w godzinę|były drogie].
            """),
        _lines("""
            [Koncert orkiestry|Muzyczny przegląd] [zachwycił publiczność|zakończył się sukcesem].
            Nagrodę [muzyczną|jury] [dostała skrzypaczka|odebrał pianista].
            """),
    ),
    "film": (
        _lines("""
            [Reżyser|Aktor] [pokazał|przedstawił] film, który kręcono {number} dni.
            [Widownia|Publiczność] [nagrodziła aktorów|wyszła z kina wzruszona].
            Zdjęcia [powstały w górach|kosztowały fortunę].
            Bilety [sprzedano w godzinę|były drogie].
            """),
        _lines("""
            [Premiera filmu wzruszyła widzów|Nowy film nagrodzono za scenariusz].
            W kinach [dramat znanego reżysera|rola młodej aktorki].
            """),
    ),
}
# Events that occur only in summaries.
OTHER_NEWS = {
    "wybory": (
        _lines("""
            [Komisja|Przewodnicząca] [ogłosiła|podała] wyniki głosowania po przeliczeniu {number} tysięcy kart.
            Frekwencja [była niska|wzrosła], a kandydat opozycji [prowadzi|przegrał].
            [Partia|Rząd] [zapowiada protesty|przyjmuje wynik].
            Wyborcy [stali w kolejkach|głosowali do późna].
            """),
        _lines("""
            [Opozycja wygrała|Partia przegrała] wybory przy [niskiej|wysokiej] frekwencji.
            Znamy [wyniki głosowania|zwycięskiego kandydata].
            """),
    ),
    "budżet": (
        _lines("""
            [Rząd|Minister] przyjął projekt ustawy budżetowej z deficytem {number} miliardów.
            Podatki [wzrosną|mają spaść] od stycznia.
            [Partia|Opozycja] [krytykuje wydatki|zapowiada protesty].
            Ekonomiści [ostrzegają przed inflacją|liczą na wzrost gospodarki].
            """),
        _lines("""
            [Deficyt|Dług państwa] [będzie większy|niepokoi ekonomistów], [podatki w górę|wydatki w dół].
            Ustawa budżetowa [przyjęta|skrytykowana].
            """),
    ),
    "lek": (
        _lines("""
            [Naukowcy|Biolodzy] [opracowali|sprawdzili] szczepionkę na {number} pacjentach.
            [Wirus|Bakteria] [przestaje się mnożyć|ginie] po podaniu preparatu.
            Wyniki [opublikowano|zaskoczyły ekspertów] w tym tygodniu.
            Lek [trafi do aptek|wymaga dalszych prób].
            """),
        _lines("""
            Nowa szczepionka [chroni przed wirusem|działa].
            [Preparat|Lek] na [wirusa|bakterie] [przeszedł próby|trafi do chorych].
            """),
    ),
    "kosmos": (
        _lines("""
            [Sonda|Rakieta] [wystartowała|dotarła na orbitę] po {number} dniach.
            [Naukowcy|Astronomowie] [szukają śladów wody|fotografują kratery] na Marsie.
            Wyniki [nadejdą drogą radiową|zaskoczyły ekspertów] w tym tygodniu.
            Teleskop [zauważył kometę|śledzi planetoidę].
            """),
        _lines("""
            Sonda [bada Marsa|przesłała zdjęcia planety].
            [Astronomowie odkryli kometę|Rakieta poleciała na orbitę].
            """),
    ),
}
NEWS_REMARKS = _lines("""
    [Tak podaje|Informuje o tym] [agencja|rzecznik|lokalne radio].
    Sprawa [budzi emocje|będzie miała ciąg dalszy].
    "[To ważny dzień|Nie spodziewaliśmy się tego]" - [mówi|przyznaje] jeden z [uczestników|świadków].
    [Więcej szczegółów|Oficjalny komunikat] poznamy [jutro|wkrótce].
""")
