hold() {
  echo 5
}

size() {
  echo 2
}
