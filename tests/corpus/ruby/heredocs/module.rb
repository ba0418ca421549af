def text
  <<~SQL
    def no
    end
  SQL
end

LETTER = <<-TEXT
class No
end
TEXT

=begin
def no
end
=end

def yes
  "end" # end
end
