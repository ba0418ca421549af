if [ -n "$BASH" ]; then
  first() { echo bash; }
elif true; then
  first() {
    echo other
  }
fi

for name in a b; do
  loop() { :; }
done

case "$1" in
  start) run() { :; } ;;
esac
