# Reads lines of JSON, each a list of texts, and answers each with what Ruby says against every text.
require 'json'
require 'stringio'

$VERBOSE = true
$stdout.sync = true
STDIN.each_line do |line|
  answers = JSON.parse(line)['texts'].map do |text|
    $stderr = StringIO.new
    begin
      RubyVM::InstructionSequence.compile(text)
    rescue SyntaxError => error
      $stderr.puts error.message
    end
    $stderr.string.lines.grep(/error|duplicated|unexpected|dynamic constant|Invalid|formal/).map do |each|
      each.strip.gsub(/\d+/, 'N')
    end
  end
  puts JSON.generate(answers)
end
