before() {
  echo 1
}

broken() {
  if true; then
}

after() {
  echo 2
}
