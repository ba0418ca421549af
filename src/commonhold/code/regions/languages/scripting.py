"""Ruby, PHP and the shell."""

import re
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from commonhold.code.regions.language import Language, Layout, Rule
from commonhold.code.regions.languages.common import BRACKETS, C_TAIL, HASH_TAIL
from commonhold.code.regions.nested import outline_nested
from commonhold.code.regions.node_names import colons, field_name, path_name, text_of
from commonhold.kernel.keys import Kind


def _singleton_name(node: Node) -> str | None:
    """Name a method of an object: `def self.build` is `self:build`."""
    of, name = node.child_by_field_name("object"), field_name(node)
    return None if of is None or name is None else f"{colons(text_of(of))}:{name}"


def _singleton_class(node: Node) -> str:
    value = node.child_by_field_name("value")
    return f"<<{colons(text_of(value)) if value is not None else ''}"


_METHOD: Final = Rule(Kind.FUNCTION, field_name)

# The scanner of this grammar keeps the open heredocs in a buffer, and does not check its bounds; and it begins again
# for each call of a chain.
_ODD_RUBY: Final = re.compile(
    rb"(?:<<[-~]?[\"'`]?\w(?:(?!<<)[^\0]){0,100}+){60}|(?<![\w.:])(?:\w{1,40}+(?:\.|::)){1000}"
)

RUBY: Final = Language(
    name="ruby",
    outline=outline_nested,
    grammar="tree_sitter_ruby",
    extensions=frozenset({".rb", ".rake", ".gemspec", ".ru"}),
    filenames=frozenset({"Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Brewfile", "Podfile"}),
    interpreters=re.compile(rb"j?ruby[0-9.]*"),
    rules={
        "class": Rule(Kind.CLASS, path_name),
        "module": Rule(Kind.CLASS, path_name),
        "singleton_class": Rule(Kind.CLASS, _singleton_class),
        "method": _METHOD,
        "singleton_method": Rule(Kind.FUNCTION, _singleton_name),
    },
    wrapper_kinds=frozenset(
        {
            "begin",
            "body_statement",
            "call",
            "do_block",
            "else",
            "elsif",
            "ensure",
            "if",
            "rescue",
            "then",
            "unless",
        }
    ),
    shell_kinds=frozenset({"argument_list", "call"}),
    closers=frozenset({"end"}),
    tail=HASH_TAIL,
    beyond=_ODD_RUBY.search,
    layout=Layout(
        opens=re.compile(rb"\A\s*(?:class|module|begin|if|unless|else)\b[^#;]*(?:#.*)?\Z|\bdo(?:\s*\|[^|]*\|)?\s*\Z"),
        closes=re.compile(rb"end\b"),
    ),
)


def _namespace_name(node: Node) -> str | None:
    """Name a namespace with a body; one without only says where the rest of the file lies."""
    return path_name(node) if node.child_by_field_name("body") is not None else None


_PHP_TYPE: Final = Rule(Kind.CLASS, field_name)

PHP: Final = Language(
    name="php",
    outline=outline_nested,
    grammar="tree_sitter_php",
    grammar_function="language_php",
    extensions=frozenset({".php", ".phtml", ".php5", ".inc"}),
    interpreters=re.compile(rb"php[0-9.]*"),
    rules={
        "function_definition": _METHOD,
        "method_declaration": _METHOD,
        "class_declaration": _PHP_TYPE,
        "interface_declaration": _PHP_TYPE,
        "trait_declaration": _PHP_TYPE,
        "enum_declaration": _PHP_TYPE,
        "namespace_definition": Rule(Kind.CLASS, _namespace_name),
    },
    wrapper_kinds=frozenset({"colon_block", "compound_statement", "else_clause", "else_if_clause", "if_statement"}),
    brackets=BRACKETS,
    tail=C_TAIL,
    comment_mark=b"//",
)

SHELL: Final = Language(
    name="shell",
    outline=outline_nested,
    grammar="tree_sitter_bash",
    extensions=frozenset({".sh", ".bash", ".zsh", ".ksh", ".bats"}),
    filenames=frozenset({".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile"}),
    interpreters=re.compile(rb"(?:ba|da|z|k|mk|a)?sh[0-9.]*"),
    rules={"function_definition": _METHOD},
    wrapper_kinds=frozenset(
        {
            "case_item",
            "case_statement",
            "compound_statement",
            "do_group",
            "elif_clause",
            "else_clause",
            "for_statement",
            "if_statement",
            "while_statement",
        }
    ),
    closers=frozenset({"}", ")"}),
    brackets={**BRACKETS, "if": 1, "fi": -1, "case": 1, "esac": -1, "do": 1, "done": -1},
    tail=HASH_TAIL,
    layout=replace(Layout(), closes=re.compile(rb"[})]|(?:fi|done|esac|else|elif)\b")),
)
