class Box {
  hold() {
    return 1;
  }

  size() {
    return 2;
  }

  hold() {
    return 3;
  }
}
