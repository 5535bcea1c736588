package tests

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"phasm"
)

type copied struct {
	File phasm.Artifact `json:"file"`
}

var copying = phasm.New(phasm.Declaration{}, func(_ *phasm.Call, in copied) (copied, error) {
	file, err := in.File.Open()
	if err != nil {
		return copied{}, err
	}
	defer file.Close()
	made := phasm.NewArtifact("copies/../a.txt")
	made.Media = in.File.Media
	return copied{File: made}, nil
})

// R-I150: a reference is an input and an output.
func TestArtifactsAreInputsAndOutputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	given := map[string]any{"artifact": "sha256:00", "path": path, "size": 5, "media": "text/plain", "name": "a.txt"}
	result := phasm.Test{Inputs: map[string]any{"file": given}}.Run(copying)
	if want := `{"file":{"artifact":"/artifacts/out/a.txt","media":"text/plain"}}`; result.Code != 0 || result.OutputsJSON != want {
		t.Fatalf("%d %s %s", result.Code, result.Message, result.OutputsJSON)
	}
	// Without the grant there is no path.
	delete(given, "path")
	refused := phasm.Test{Inputs: map[string]any{"file": given}}.Run(copying)
	if refused.Code != 3 {
		t.Fatalf("%d %s", refused.Code, refused.Message)
	}
	if _, err := (phasm.Artifact{Artifact: filepath.Join(t.TempDir(), "x")}).Open(); !os.IsNotExist(err) {
		t.Fatal(err, fs.ErrNotExist)
	}
}
