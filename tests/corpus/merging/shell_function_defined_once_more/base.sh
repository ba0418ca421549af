hold() {
  echo 1
}

size() {
  echo 2
}
