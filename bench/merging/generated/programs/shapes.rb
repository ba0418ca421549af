require 'set'
require 'time'

LIMIT = 10
WORDS = ['first', 'second']
NAMED = { first: 1, second: 2 }

module Sized
  def large?
    size > LIMIT
  end
end

class Shape
  include Sized

  attr_reader :width, :height

  def initialize(width, height: 1)
    @width = width
    @height = height
  end

  def size
    total = @width * @height
    if total > LIMIT
      total = LIMIT
    end
    total
  end

  def grown(by)
    Shape.new(@width + by, height: @height)
  end

  def self.unit
    new(1)
  end
end

def total(shapes, start = 0)
  seen = []
  result = start
  shapes.each do |shape|
    result += shape.size
    seen << result
  end
  return start if seen.empty?
  result
end

def numbered(word)
  case word
  when 0
    10
  when 1
    11
  end
end

def check
  shapes = [Shape.new(1), Shape.new(2, height: 3)]
  larger = shapes[0].grown(2)
  puts larger.size, NAMED[:first], Shape.unit
  total(shapes, 1) + numbered(0)
end
