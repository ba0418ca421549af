hold() {
  echo 1
}

size() {
  echo 2
}

hold() {
  echo 3
}
