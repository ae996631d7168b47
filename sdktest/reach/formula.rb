# Runs a formula without Homebrew: run.rb FORMULA PREFIX. Prints each address with its hash.
require "fileutils"
require "pathname"

module Target
  def install(*files)
    FileUtils.mkdir_p(self)
    files.flatten.each do |f|
      (f.is_a?(Hash) ? f : { f => File.basename(f) }).each { |from, to| FileUtils.cp(from, File.join(self, to)) }
    end
  end
end

class Formula
  class << self
    def desc(text) = (raise "desc is longer than 80" if text.length > 80)
    def homepage(_) = nil
    def license(_) = nil
    def version(text = nil) = text ? @version = text : @version
    def url(text) = @url = text
    def sha256(text) = puts("#{@url} #{text}")
    %i[on_macos on_linux on_arm on_intel].each { |word| define_method(word) { |&block| block.call } }
    def test(&block) = block ? @test = block : @test
  end

  def initialize(prefix) = @prefix = prefix
  def version = self.class.version
  def at(*names) = Pathname.new(File.join(@prefix, *names)).extend(Target)
  def bin = at("bin")
  def man1 = at("share/man/man1")
  def bash_completion = at("etc/bash_completion.d")
  def zsh_completion = at("share/zsh/site-functions")
  def fish_completion = at("share/fish/vendor_completions.d")
  def shell_output(command) = `#{command}`
  def assert_match(want, got) = (raise "#{got} has no #{want}" unless got.include?(want))
end

file, prefix = ARGV
load file
formula = Object.const_get(File.basename(file, ".rb").capitalize).new(prefix)
formula.install
formula.instance_eval(&formula.class.test)
