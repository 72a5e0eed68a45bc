package options

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTmp(t *testing.T) {
	for _, args := range [][]string{
		{"--leader-elect-renew-deadline=11s", "--leader-elect-retry-period=10s"},
		{"--leader-elect-lease-duration=900ms", "--leader-elect-renew-deadline=500ms", "--leader-elect-retry-period=100ms"},
	} {
		o := parse(t, args...)
		if err := o.Complete(); err != nil {
			t.Fatal(err)
		}
		t.Log(args, o.Validate())
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "identity"), nil, 0o600)
	t.Logf("%q", identity(t, dir))
}
func TestTmpTwice(t *testing.T) {
	defer func() { t.Log(recover()) }()
	New()
	New()
	t.Log("fine")
}
