package shop

import scala.util.Try

/** A shop. */
@deprecated
case class Shop(name: String) extends Base {
  val limit = 3

  // about add
  def add(name: String, items: List[Int])(implicit c: Context): Int = {
    1
  }

  def add(name: String) = 2

  def size = 3
}

object Shop {
  def apply(): Shop = new Shop("x")
}
