enum Colour {
  case Red, Green
}

given Ord[Int] with {
  def compare(x: Int, y: Int) = 0
}

extension (text: String) {
  def pad(size: Int): String = text
}

package object util {
  def help = 1
}

sealed abstract class Result
