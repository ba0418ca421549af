class Box
  def hold
    1
  end

  def size
    2
  end

  def hold
    3
  end
end
