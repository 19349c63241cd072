# A Homebrew formula for Linux; scripts/dist.sh fills in version, address and checksums.
class Plimsoll < Formula
  desc "Prove what a machine's storage can carry before a database is put on it"
  homepage "${URL}"
  version "${VERSION}"
  license "Apache-2.0"
  depends_on :linux
  depends_on "fio" => :recommended

  on_intel do
    url "${URL}/plimsoll_${VERSION}_linux_amd64.tar.gz"
    sha256 "${AMD64}"
  end
  on_arm do
    url "${URL}/plimsoll_${VERSION}_linux_arm64.tar.gz"
    sha256 "${ARM64}"
  end

  def install
    bin.install "plimsoll"
    man1.install Dir["man/*.1.gz"]
    bash_completion.install "completions/plimsoll.bash" => "plimsoll"
    zsh_completion.install "completions/_plimsoll"
    fish_completion.install "completions/plimsoll.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/plimsoll version")
  end
end
