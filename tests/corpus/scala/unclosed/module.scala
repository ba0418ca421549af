object Before {
  def run = 1
}

object Broken {
  def run = call(
}

object After {
  def run = 1
}
