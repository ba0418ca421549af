def before
  1
end

class Broken
  def run
    call(
  end
end

def after
  1
end
