#!/bin/bash
# a note of the file

set -e

# about build
build() {
  local x=1
  inner() { :; }
}

function deploy {
  echo done
}

function check() (
  cd /tmp
)

LIMIT=3
build
