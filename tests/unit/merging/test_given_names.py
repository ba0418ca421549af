"""No proven merge gives one name twice in one scope, in whatever language, where neither side did."""

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven

# A file, and what either side puts in: ours at `@`, theirs at `&`. `%` is the name, `§` an `@`.
TWICE = {
    "c case": (
        "a.c",
        "int f(int w) {\n  switch (w) {\n  case 1: go(1);\n@  case 2: go(2);\n  case 3: go(3);\n&  }\n}",
        "  case %: go(6);\n",
        "  case %: go(7);\n",
    ),
    "go case": (
        "a.go",
        "package p\nfunc f(w K) {\n\tswitch w {\n\tcase 1:\n\t\tg()\n@\tcase 2:\n\t\tg()\n\tcase 3:\n\t\tg()\n&\t}\n}",
        "\tcase %:\n\t\tg(6)\n",
        "\tcase 8, %:\n\t\tg(7)\n",
    ),
    "ts case": (
        "a.ts",
        "function f(w: Key) {\n  switch (w) {\n  case a: go(1);\n@  case b: go(2);\n  case c: go(3);\n&  }\n}",
        "  case %: go(6);\n",
        "  case %: go(7);\n",
    ),
    "rust arm": (
        "a.rs",
        "fn f(w: Key) -> i32 {\n    match w {\n        One => 1,\n@        Two => 2,\n        Three => 3,\n&    }\n}\n",
        "        % => 6,\n",
        "        % => 7,\n",
    ),
    "kotlin entry": (
        "a.kt",
        "fun f(w: Key): Int = when (w) {\n    One -> 1\n@    Two -> 2\n    Three -> 3\n&}\n",
        "    % -> 6\n",
        "    % -> 7\n",
    ),
    "yaml key": ("a.yaml", "one: 1\n@two: 2\nthree: 3\nfour: 4\n&five: 5\n", "%: 6\n", "%: 7\n"),
    "yaml key inside": ("a.yaml", "top:\n  one: 1\n@  two: 2\n  three: 3\n&  four: 4\n", "  %: 6\n", "  %: 7\n"),
    "yaml quoted key": ("a.yaml", "one: 1\n@two: 2\nthree: 3\n&four: 4\n", '"%": 6\n', "%: 7\n"),
    "yaml flow key": ("a.yaml", "top: {one: 1@, two: 2, three: 3&, four: 4}\n", ", %: 6", ", %: 7"),
    "yaml anchor": ("a.yaml", "one: 1\n@two: 2\nthree: 3\n&four: 4\n", "six: &% 6\n", "seven: &% 7\n"),
    "json key": (
        "a.json",
        '{\n  "one": 1,\n@  "two": 2,\n  "three": 3,\n&  "four": 4\n}\n',
        '  "%": 6,\n',
        '  "%": 7,\n',
    ),
    "json key inside": (
        "a.json",
        '{"top": {\n  "one": 1,\n@  "two": 2,\n  "three": 3,\n&  "four": 4\n}}\n',
        '  "%": 6,\n',
        '  "%": 7,\n',
    ),
    "toml key": ("a.toml", "[top]\none = 1\n@two = 2\nthree = 3\n&four = 4\n", "% = 6\n", "% = 7\n"),
    "toml quoted key": ("a.toml", "[top]\none = 1\n@two = 2\nthree = 3\n&four = 4\n", '"%" = 6\n', "% = 7\n"),
    "toml table": (
        "a.toml",
        "[one]\nx = 1\n\n@[two]\nx = 2\n\n[three]\nx = 3\n\n&[four]\nx = 4\n",
        "[%]\nx = 6\n\n",
        "[%]\ny = 7\n\n",
    ),
    "css rule": (
        "a.css",
        ".one { top: 1px }\n@.two { top: 2px }\n.three { top: 3px }\n&.four { top: 4px }\n",
        ".% { top: 6px }\n",
        ".% { top: 7px }\n",
    ),
    "css property": (
        "a.css",
        ".one {\n  top: 1px;\n@  left: 2px;\n  right: 3px;\n&  bottom: 4px;\n}\n",
        "  %: 6px;\n",
        "  %: 7px;\n",
    ),
    "ts property": (
        "a.ts",
        "interface I {\n  one: string;\n@  two: string;\n  three: string;\n&  four: string;\n}\n",
        "  %: string;\n",
        "  %?: number;\n",
    ),
    "ts type property": (
        "a.ts",
        "type I = {\n  one: string;\n@  two: string;\n  three: string;\n&  four: string;\n};\n",
        "  %: string;\n",
        "  %: number;\n",
    ),
    "ts enum member": (
        "a.ts",
        'enum I {\n  One = "1",\n@  Two = "2",\n  Three = "3",\n&  Four = "4",\n}\n',
        '  % = "6",\n',
        '  % = "7",\n',
    ),
    "ts interface twice": (
        "a.ts",
        "interface A { a: number }\n@interface B { b: 1 }\ninterface C { c: 2 }\n&interface D { d: 3 }\n",
        "interface % { x: string }\n",
        "interface % { y: string }\n",
    ),
    "js key": ("a.js", "const o = {\n  one: 1,\n@  two: 2,\n  three: 3,\n&  four: 4,\n};\n", "  %: 6,\n", "  %: 7,\n"),
    "js arrow function parameter": ("a.js", "go({ one: (@two&) => two });\n", "% = 6, ", ", % = 7"),
    "js quoted key": (
        "a.js",
        "const o = {\n  one: 1,\n@  two: 2,\n  three: 3,\n&  four: 4,\n};\n",
        "  %: 6,\n",
        '  "%": 7,\n',
    ),
    "js key and method": (
        "a.js",
        "const o = {\n  one: 1,\n@  two: 2,\n  three: 3,\n&  four: 4,\n};\n",
        "  %: 6,\n",
        "  %() { return 7; },\n",
    ),
    "js method": (
        "a.js",
        "class C {\n  one() {}\n@  two() {}\n  three() {}\n&  four() {}\n}\n",
        "  %() { return 6; }\n",
        "  %() { return 7; }\n",
    ),
    "js field and method": (
        "a.js",
        "class C {\n  one() {}\n@  two() {}\n  three() {}\n&  four() {}\n}\n",
        "  % = 6;\n",
        "  %() { return 7; }\n",
    ),
    "go field": (
        "a.go",
        "package p\n\ntype S struct {\n\tOne int\n@\tTwo int\n\tThree int\n&\tFour int\n}\n",
        "\t% int\n",
        "\t% string\n",
    ),
    "go tag": (
        "a.go",
        "package p\n\ntype S struct {\n\tOne int\n@\tTwo int\n\tThree int\n&\tFour int\n}\n",
        '\tSix int `json:"%"`\n',
        '\tSeven int `json:"%,omitempty"`\n',
    ),
    "go method": (
        "a.go",
        "package p\n\ntype S struct{}\n\n@func (s S) One() int { return 1 }\n\nfunc (s S) Two() int { return 2 }\n&",
        "func (s S) %() int { return 6 }\n\n",
        "\nfunc (s *S) %() int { return 7 }\n",
    ),
    "go interface": (
        "a.go",
        "package p\n\ntype I interface {\n\tOne()\n@\tTwo()\n\tThree()\n&\tFour()\n}\n",
        "\t%()\n",
        "\t%() int\n",
    ),
    "go map": (
        "a.go",
        'package p\n\nvar m = map[string]int{\n\t"one": 1,\n@\t"two": 2,\n\t"three": 3,\n&\t"four": 4,\n}\n',
        '\t"%": 6,\n',
        '\t"%": 7,\n',
    ),
    "java field": (
        "A.java",
        "class A {\n    int one;\n@    int two;\n    int three;\n&    int four;\n}\n",
        "    int %;\n",
        "    String %;\n",
    ),
    "java serialised": (
        "A.java",
        "class A {\n    int one;\n@    int two;\n    int three;\n&    int four;\n}\n",
        '    @JsonProperty("%") int six;\n',
        '    @JsonProperty("%") int seven;\n',
    ),
    "java enum": ("A.java", "enum A {\n    ONE,\n@    TWO,\n    THREE,\n&    FOUR;\n}\n", "    %,\n", "    %(7),\n"),
    "java method": (
        "A.java",
        "class A {\n    void one() {}\n@    void two() {}\n    void three() {}\n&    void four() {}\n}\n",
        "    int %() { return 6; }\n",
        "    int %() { return 7; }\n",
    ),
    "csharp field": (
        "a.cs",
        "class A {\n    int one;\n@    int two;\n    int three;\n&    int four;\n}\n",
        "    int %;\n",
        "    string %;\n",
    ),
    "csharp property": (
        "a.cs",
        "class A {\n    int One { get; }\n@    int Two { get; }\n    int Three { get; }\n&    int Four { get; }\n}\n",
        "    int % { get; set; }\n",
        "    string % { get; set; }\n",
    ),
    "csharp serialised": (
        "a.cs",
        "class A {\n    int One { get; }\n@    int Two { get; }\n    int Three { get; }\n&    int Four { get; }\n}\n",
        '    [JsonPropertyName("%")] int Six { get; set; }\n',
        '    [JsonPropertyName("%")] int Seven { get; set; }\n',
    ),
    "csharp partial": (
        "a.cs",
        "partial class A {\n    int One() { return 1; }\n@}\n\npartial class A {\n    int Two() { return 2; }\n&}\n",
        "    int %() { return 6; }\n",
        "    int %() { return 7; }\n",
    ),
    "kotlin property": (
        "a.kt",
        "class A {\n    val one = 1\n@    val two = 2\n    val three = 3\n&    val four = 4\n}\n",
        "    val % = 6\n",
        "    var % = 7\n",
    ),
    "kotlin serialised": (
        "a.kt",
        "class A {\n    val one = 1\n@    val two = 2\n    val three = 3\n&    val four = 4\n}\n",
        '    @SerialName("%") val six = 6\n',
        '    @SerialName("%") val seven = 7\n',
    ),
    "kotlin function": (
        "a.kt",
        "class A {\n    fun one() = 1\n@    fun two() = 2\n    fun three() = 3\n&    fun four() = 4\n}\n",
        "    fun %() = 6\n",
        "    fun %() = 7\n",
    ),
    "swift property": (
        "a.swift",
        "struct A {\n    var one = 1\n@    var two = 2\n    var three = 3\n&    var four = 4\n}\n",
        "    var % = 6\n",
        "    let % = 7\n",
    ),
    "swift extension": (
        "a.swift",
        "struct A {\n    func one() {}\n@}\n\nextension A {\n    func two() {}\n&}\n",
        "    func %() -> Int { return 6 }\n",
        "    func %() -> Int { return 7 }\n",
    ),
    "scala member": (
        "a.scala",
        "class A {\n  val one = 1\n@  val two = 2\n  val three = 3\n&  val four = 4\n}\n",
        "  val % = 6\n",
        "  def % = 7\n",
    ),
    "rust field": (
        "a.rs",
        "struct S {\n    one: u8,\n@    two: u8,\n    three: u8,\n&    four: u8,\n}\n",
        "    %: u8,\n",
        "    %: u16,\n",
    ),
    "rust variant": ("a.rs", "enum S {\n    One,\n@    Two,\n    Three,\n&    Four,\n}\n", "    %,\n", "    %(u8),\n"),
    "rust renamed": (
        "a.rs",
        "struct S {\n    one: u8,\n@    two: u8,\n    three: u8,\n&    four: u8,\n}\n",
        "    %: u8,\n",
        '    #[serde(rename = "%")]\n    seven: u8,\n',
    ),
    "rust two impls": (
        "a.rs",
        "struct S;\n\nimpl S {\n    fn one() {}\n@}\n\nimpl S {\n    fn two() {}\n&}\n",
        "    fn %() -> u8 { 6 }\n",
        "    fn %() -> u8 { 7 }\n",
    ),
    "rust trait method": (
        "a.rs",
        "trait S {\n    fn one();\n@    fn two();\n    fn three();\n&    fn four();\n}\n",
        "    fn %() -> u8;\n",
        "    fn %() -> u16;\n",
    ),
    "rust derive beside impl": (
        "a.rs",
        "@struct S {\n    one: u8,\n}\n\nfn f() {}\n&",
        "#[derive(%)]\n",
        "\nimpl % for S {\n    fn x() {}\n}\n",
    ),
    "rust derive beside impl by path": (
        "a.rs",
        "@struct S {\n    one: u8,\n}\n\nfn f() {}\n&",
        "#[derive(%)]\n",
        "\nimpl std::fmt::% for S {\n    fn x() {}\n}\n",
    ),
    "c member": (
        "a.c",
        "struct S {\n    int one;\n@    int two;\n    int three;\n&    int four;\n};\n",
        "    int %;\n",
        "    char *%;\n",
    ),
    "c enumerator": (
        "a.c",
        "enum S {\n    ONE = 1,\n@    TWO = 2,\n    THREE = 3,\n&    FOUR = 4\n};\n",
        "    % = 6,\n",
        "    % = 7,\n",
    ),
    "c macro": (
        "a.c",
        "#define ONE 1\n@#define TWO 2\n#define THREE 3\n&#define FOUR 4\n",
        "#define % 6\n",
        "#define % 7\n",
    ),
    "c designator": (
        "a.c",
        "struct S s = {\n    .one = 1,\n@    .two = 2,\n    .three = 3,\n&    .four = 4,\n};\n",
        "    .% = 6,\n",
        "    .% = 7,\n",
    ),
    "c member called": (
        "a.c",
        "struct S {\n    int one;\n@    int two;\n    int three;\n&    int four;\n};\n",
        "    int %;\n",
        "    int (*%)(int);\n",
    ),
    "c member of a struct without a name": (
        "a.c",
        "struct S {\n    int one;\n@    int two;\n    int three;\n&    int four;\n};\n",
        "    int %;\n",
        "    struct { int %; };\n",
    ),
    "c function declared": (
        "a.c",
        "int one(void);\n\n@int two(void);\n\nint three(void);\n\n&int four(void);\n",
        "int %(void);\n\n",
        "int %(int value);\n\n",
    ),
    "c variable that holds a function": (
        "a.c",
        "int one(void);\n\n@int two(void);\n\nint three(void);\n\n&int four(void);\n",
        "int %(void);\n\n",
        "int (*%)(int value);\n\n",
    ),
    "cpp type beside a declared function": (
        "a.cpp",
        "int one();\n\n@int two();\n\nint three();\n\n&int four();\n",
        "using % = int;\n\n",
        "static int %(void);\n\n",
    ),
    "cpp member beside a declared method": (
        "a.cpp",
        "class S {\n    int one;\n@    int two;\n    int three;\n&    int four;\n};\n",
        "    int %;\n",
        "    static int %(int value);\n",
    ),
    "cpp namespace beside a function": (
        "a.cpp",
        "int one();\n\n@int two();\n\nint three();\n\n&int four();\n",
        "namespace % {\nconst int size = 1;\n}\n\n",
        "int %(int value);\n\n",
    ),
    "go embedded field": (
        "a.go",
        "package p\n\ntype S struct {\n\tOne int\n@\tTwo int\n\tThree int\n&\tFour int\n}\n",
        "\tone.%\n",
        "\t% int\n",
    ),
    "go type": (
        "a.go",
        "package p\n\ntype One int\n\n@type Two int\n\ntype Three int\n\n&type Four int\n",
        "type % struct{}\n\n",
        "type % = int\n\n",
    ),
    "cpp member": (
        "a.cpp",
        "class S {\n    int one;\n@    int two;\n    int three;\n&    int four;\n};\n",
        "    int %;\n",
        "    char *%;\n",
    ),
    "php property": (
        "a.php",
        "<?php\nclass A {\n    public $one;\n@    public $two;\n    public $three;\n&    public $four;\n}\n",
        "    public $%;\n",
        "    private $% = 7;\n",
    ),
    "php constant": (
        "a.php",
        "<?php\nclass A {\n    const ONE = 1;\n@    const TWO = 2;\n    const THREE = 3;\n&    const FOUR = 4;\n}\n",
        "    const % = 6;\n",
        "    const % = 7;\n",
    ),
    "php key": (
        "a.php",
        "<?php\n$a = [\n    'one' => 1,\n@    'two' => 2,\n    'three' => 3,\n&    'four' => 4,\n];\n",
        "    '%' => 6,\n",
        '    "%" => 7,\n',
    ),
    "ruby key": ("a.rb", "A = {\n  one: 1,\n@  two: 2,\n  three: 3,\n&  four: 4,\n}\n", "  %: 6,\n", "  %: 7,\n"),
    "ruby method": (
        "a.rb",
        "class A\n  def one\n  end\n\n@  def two\n  end\n\n  def three\n  end\n\n&  def four\n  end\nend\n",
        "  def %\n    6\n  end\n\n",
        "  def %\n    7\n  end\n\n",
    ),
    "python key": (
        "a.py",
        'A = {\n    "one": 1,\n@    "two": 2,\n    "three": 3,\n&    "four": 4,\n}\n',
        '    "%": 6,\n',
        "    '%': 7,\n",
    ),
    "python attribute": (
        "a.py",
        "class A:\n    one = 1\n@    two = 2\n    three = 3\n&    four = 4\n",
        "    % = 6\n",
        "    % = 7\n",
    ),
    "python method": (
        "a.py",
        "class A:\n    def one(x): ...\n@    def two(x): ...\n    def three(x): ...\n&    def four(x): ...\n",
        "    def %(self): return 6\n",
        "    % = 7\n",
    ),
    "python alias": (
        "a.py",
        "class A(B):\n    one: int\n@    two: int\n    three: int\n&    four: int\n",
        '    six: int = Field(alias="%")\n',
        '    seven: int = Field(alias="%")\n',
    ),
    "python route": (
        "a.py",
        "def one(): ...\n\n\n@def two(): ...\n\n\ndef three(): ...\n\n\n&def four(): ...\n",
        '@app.route("/%")\ndef six(): ...\n\n\n',
        '@app.route("/%")\ndef seven(): ...\n\n\n',
    ),
    "shell function": (
        "a.sh",
        "one() {\n  true\n}\n@\ntwo() {\n  true\n}\n\nthree() {\n  true\n}\n&",
        "\n%() {\n  false\n}\n",
        "\n%() {\n  true\n}\n",
    ),
    "py pydantic alias vs field": (
        "a.py",
        "class A(BaseModel):\n    one: int\n@    two: int\n    three: int\n&    four: int\n",
        "    zone: int\n",
        '    seven: int = Field(alias="zone")\n',
    ),
    "go tag vs name": (
        "a.go",
        "package p\n\ntype S struct {\n\tOne int\n@\tTwo int\n\tThree int\n&\tFour int\n}\n",
        "\tZone int\n",
        '\tSeven int `json:"Zone"`\n',
    ),
    "ts column": (
        "a.ts",
        "class C {\n  one: number;\n@  two: number;\n  three: number;\n&}\n",
        "  §Column({ name: 'zone' })\n  six: number;\n",
        "  §Column({ name: 'zone' })\n  seven: number;\n",
    ),
    "css same rule two blocks": (
        "a.css",
        ".a { top: 1px }\n@.d { top: 4px }\n.e { top: 1px }\n&",
        ".x, .zone { left: 1px }\n",
        ".zone { left: 2px }\n",
    ),
}
SAME_VALUE = {
    "python": (
        "a.py",
        "class A(Enum):\n    ONE = 1\n@    TWO = 2\n    THREE = 3\n&",
        "    SIX = 6\n",
        "    SEVEN = 6\n",
    ),
    "typescript": (
        "a.ts",
        "enum A {\n  One = 1,\n@  Two = 2,\n  Three = 3,\n&  Four = 4,\n}\n",
        "  Six = 6,\n",
        "  Seven = 6,\n",
    ),
    "java": (
        "A.java",
        "enum A {\n    ONE(1),\n@    TWO(2),\n    THREE(3),\n&    FOUR(4);\n}\n",
        "    SIX(6),\n",
        "    SEVEN(6),\n",
    ),
    "csharp": (
        "a.cs",
        "enum A {\n    One = 1,\n@    Two = 2,\n    Three = 3,\n&    Four = 4\n}\n",
        "    Six = 6,\n",
        "    Seven = 6,\n",
    ),
    "c": (
        "a.c",
        "enum A {\n    ONE = 1,\n@    TWO = 2,\n    THREE = 3,\n&    FOUR = 4\n};\n",
        "    SIX = 6,\n",
        "    SEVEN = 6,\n",
    ),
    "rust": (
        "a.rs",
        "enum A {\n    One = 1,\n@    Two = 2,\n    Three = 3,\n&    Four = 4,\n}\n",
        "    Six = 6,\n",
        "    Seven = 6,\n",
    ),
    "swift": (
        "a.swift",
        "enum A: Int {\n    case one = 1\n@    case two = 2\n    case three = 3\n&    case four = 4\n}\n",
        "    case six = 6\n",
        "    case seven = 6\n",
    ),
    "php": (
        "a.php",
        "<?php\nenum A: int {\n    case One = 1;\n@    case Two = 2;\n    case Three = 3;\n&    case Four = 4;\n}\n",
        "    case Six = 6;\n",
        "    case Seven = 6;\n",
    ),
}


def merged(case: tuple[str, str, str, str], ours: str, theirs: str) -> Proven | Unproven:
    path, text, first, second = case
    before, _, rest = text.partition("@")
    between, _, after = rest.partition("&")
    both = first.replace("%", ours), second.replace("%", theirs)
    base, mine, others = (
        f"{before}{one}{between}{other}{after}".replace("§", "@").encode()
        for one, other in (("", ""), (both[0], ""), ("", both[1]))
    )
    return merge(base, mine, others, path)


@pytest.mark.parametrize("name", TWICE)
def test_one_name_given_by_both_sides_in_one_scope_is_not_proven(name: str) -> None:
    answer = merged(TWICE[name], "Zone", "Zone")
    assert isinstance(answer, Unproven)


@pytest.mark.parametrize("name", SAME_VALUE)
def test_one_value_given_to_two_members_is_not_proven(name: str) -> None:
    answer = merged(SAME_VALUE[name], "", "")
    assert isinstance(answer, Unproven)


def test_closures_have_parameters_of_their_own() -> None:
    case = ("a.js", "go([(one@) => one, (two&) => two]);\n", ", % = 6", ", % = 7")
    assert isinstance(merged(case, "zone", "zone"), Proven)


def test_functions_with_other_parameters_may_have_one_name() -> None:
    text = "int one();\n\n@int two();\n\nint three();\n\n&int four();\n"
    assert isinstance(merged(("a.cpp", text, "int %();\n\n", "int %(int value);\n\n"), "zone", "zone"), Proven)
