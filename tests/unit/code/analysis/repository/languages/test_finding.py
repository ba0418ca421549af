"""Which files a module's name leads to, in each language, by the paths of a repository alone."""

import pytest

from commonhold.code.analysis.repository.languages import linkage_of
from commonhold.code.analysis.repository.library import Shelf
from commonhold.code.analysis.repository.summary import Import, Summary

ECMASCRIPT = (
    "index.js",
    "src/a.ts",
    "src/b/index.tsx",
    "src/c.d.ts",
    "src/deep/er/d.mjs",
    "src/e.js",
    "packages/core/src/index.ts",
    "packages/core/src/extra.ts",
    "packages/ui/index.ts",
)
GO = ("main.go", "main_test.go", "cmd/run/run.go", "internal/errors/errors.go", "internal/errors/more.go", "doc/doc.go")
RUST = (
    "src/lib.rs",
    "src/main.rs",
    "src/a.rs",
    "src/a/b.rs",
    "src/c/mod.rs",
    "src/c/d.rs",
    "src/bin/tool.rs",
    "tests/it.rs",
    "tests/common/mod.rs",
    "crates/grep-cli/src/lib.rs",
    "crates/printer/src/lib.rs",
    "crates/printer/src/util.rs",
)
JAVA = (
    "app/src/main/java/x/y/A.java",
    "app/src/main/java/x/y/B.java",
    "app/src/main/java/x/y/z/C.java",
    "app/src/test/java/x/y/ATest.java",
    "lib/x/y/Old.java",
)
FILES = {"typescript": ECMASCRIPT, "go": GO, "rust": RUST, "java": JAVA}


def library(language: str) -> Shelf:
    return Shelf({path: Summary(language) for path in FILES[language]})


@pytest.mark.parametrize(
    ("path", "module", "found"),
    [
        ("src/e.js", "./a", "src/a.ts"),
        ("src/e.js", "./a.js", "src/a.ts"),
        ("src/e.js", "./b", "src/b/index.tsx"),
        ("src/e.js", "./c", "src/c.d.ts"),
        ("src/deep/er/d.mjs", "../../e", "src/e.js"),
        ("src/e.js", "..", "index.js"),
        ("src/e.js", "../", "index.js"),
        ("src/deep/er/d.mjs", "@/a", "src/a.ts"),
        ("src/e.js", "~/src/a", "src/a.ts"),
        ("src/e.js", "core", "packages/core/src/index.ts"),
        ("src/e.js", "core/extra", "packages/core/src/extra.ts"),
        ("src/e.js", "@scope/ui", "packages/ui/index.ts"),
        ("src/e.js", "", "src/e.js"),
        ("src/e.js", "./missing", ""),
        ("src/e.js", "../../../out", ""),
        ("src/e.js", "react", ""),
        ("src/e.js", "/etc/a", ""),
        ("src/e.js", "@", ""),
    ],
)
def test_a_module_of_typescript_is_a_file(path: str, module: str, found: str) -> None:
    assert linkage_of("typescript").modules(library("typescript"), path, module) == ((found,) if found else ())


def go_library() -> Shelf:
    imports = ("example.com/me/tool/internal/errors", "example.com/me/tool/doc", "github.com/other/errors", "net/http")
    taken = tuple(Import("", module, "", 1) for module in imports)
    return Shelf({path: Summary("go", imports=taken if path == "main.go" else ()) for path in GO})


@pytest.mark.parametrize(
    ("module", "found"),
    [
        ("example.com/me/tool/internal/errors", ("internal/errors/errors.go", "internal/errors/more.go")),
        ("example.com/me/tool/cmd/run", ("cmd/run/run.go",)),
        ("example.com/me/tool", ("main.go",)),
        ("example.com/me/toolbox", ()),
        ("github.com/other/errors", ()),
        ("errors", ()),
        ("net/http", ()),
        ("./doc", ()),
        ("", ()),
    ],
)
def test_a_package_of_go_is_a_folder_without_its_tests(module: str, found: tuple[str, ...]) -> None:
    assert linkage_of("go").modules(go_library(), "main.go", module) == found


def test_an_import_path_is_matched_by_its_end_where_nothing_says_what_the_module_is_called() -> None:
    files = library("go")
    assert linkage_of("go").modules(files, "main.go", "example.com/me/tool/cmd/run") == ("cmd/run/run.go",)
    assert linkage_of("go").modules(files, "main.go", "example.com/doc") == ()


def test_the_files_of_a_package_of_go_see_each_other() -> None:
    assert linkage_of("go").siblings(library("go"), "main.go") == ("main_test.go",)
    assert linkage_of("go").siblings(library("go"), "internal/errors/more.go") == ("internal/errors/errors.go",)


@pytest.mark.parametrize(
    ("path", "module", "found"),
    [
        ("src/a.rs", "crate", "src/lib.rs"),
        ("src/a.rs", "crate::c::d", "src/c/d.rs"),
        ("src/a.rs", "self::b", "src/a/b.rs"),
        ("src/a.rs", "b", "src/a/b.rs"),
        ("src/a/b.rs", "super", "src/a.rs"),
        ("src/a/b.rs", "super::super::c", "src/c/mod.rs"),
        ("src/c/mod.rs", "super", "src/lib.rs"),
        ("src/c/d.rs", "super", "src/c/mod.rs"),
        ("src/main.rs", "self::a", "src/a.rs"),
        ("src/main.rs", "crate", "src/main.rs"),
        ("src/bin/tool.rs", "crate", "src/bin/tool.rs"),
        ("tests/it.rs", "self::common", "tests/common/mod.rs"),
        ("src/a.rs", "grep_cli", "crates/grep-cli/src/lib.rs"),
        ("src/a.rs", "grep_printer::util", "crates/printer/src/util.rs"),
        ("crates/printer/src/util.rs", "printer", ""),
        ("src/a.rs", "self", "src/a.rs"),
        ("src/lib.rs", "super", ""),
        ("src/a.rs", "crate::missing::d", ""),
        ("src/a.rs", "std::fmt", ""),
        ("src/a.rs", "", "src/a.rs"),
    ],
)
def test_a_module_of_rust_lies_where_its_crate_has_it(path: str, module: str, found: str) -> None:
    assert linkage_of("rust").modules(library("rust"), path, module) == ((found,) if found else ())


def test_a_module_of_rust_may_lie_below_without_being_declared() -> None:
    assert linkage_of("rust").below(library("rust"), "src/a.rs", "b") == ("src/a/b.rs",)
    assert linkage_of("rust").below(library("rust"), "src/a.rs", "c") == ()


@pytest.mark.parametrize(
    ("module", "found"),
    [
        (
            "x.y",
            (
                "app/src/main/java/x/y/A.java",
                "app/src/main/java/x/y/B.java",
                "app/src/test/java/x/y/ATest.java",
                "lib/x/y/Old.java",
            ),
        ),
        ("x.y.z", ("app/src/main/java/x/y/z/C.java",)),
        ("x.y.B", ("app/src/main/java/x/y/B.java",)),
        ("java.util", ()),
        ("", ("app/src/main/java/x/y/A.java",)),
    ],
)
def test_a_package_of_java_is_a_folder_in_every_source_tree(module: str, found: tuple[str, ...]) -> None:
    assert linkage_of("java").modules(library("java"), "app/src/main/java/x/y/A.java", module) == found


def test_the_files_of_a_package_of_java_see_each_other_across_source_trees() -> None:
    assert linkage_of("java").siblings(library("java"), "app/src/test/java/x/y/ATest.java") == (
        "app/src/main/java/x/y/A.java",
        "app/src/main/java/x/y/B.java",
        "lib/x/y/Old.java",
    )
