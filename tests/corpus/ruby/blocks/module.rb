if condition
  def first
    1
  end
else
  def first
    2
  end
end

included do
  def helper
    3
  end
end

describe "a shop" do
  it "opens" do
    expect(1).to eq(1)
  end
end

Point = Struct.new(:x) do
  def area; end
end
