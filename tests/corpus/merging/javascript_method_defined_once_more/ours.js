class Box {
  hold() {
    return 5;
  }

  size() {
    return 2;
  }
}
