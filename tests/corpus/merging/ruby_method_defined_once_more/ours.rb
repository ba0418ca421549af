class Box
  def hold
    5
  end

  def size
    2
  end
end
