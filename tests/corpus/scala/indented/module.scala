class Shop:
  def open =
    val x = 1
    x
    // in open
  // about close
  def close = 2
end Shop

trait Seller:
  def sell(item: Item): Unit

  def name = "x"

def top(x: Int): Int = x
