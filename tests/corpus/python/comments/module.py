#!/usr/bin/env python
# -*- coding: utf-8 -*-
# about f, directly below the encoding line
def f():
    # first line of the body
    pass
    # in the tail

    # in the tail below a blank line
# a note that a blank line parts from g
# in two lines

# a note of the file

# about g
@decorate  # why
# between decorators
@again
def g():
    return """
# no comment
"""
  # deeper than g

    # deeper than g, though h is near
# about h
def h(): pass  # at its end


x = """
# ends a string """
def i():
    pass
