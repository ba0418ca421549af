#!/usr/bin/env ruby
# frozen_string_literal: true

require "set"

# About the shop.
module Trade
  class Shop < Base
    attr_reader :name

    # about open
    def open(hour)
      hour
    end

    def self.build(name) = new(name)

    private def secret
      1
    end

    class << self
      def count
        2
      end
    end

    def ==(other)
      true
    end
  end
end

# reopened
module Trade
  class Shop
    def close; end
  end
end

class Trade::Goods
  def price; end
end
