package phasm

import (
	"os"
	"path"
)

// outputDir is the directory of files that an attempt makes.
const outputDir = "/artifacts/out"

// Artifact is a file that an input names, or a file that the attempt makes and an output names. The operator grants artifacts
// with `artifacts = true`; without the grant, Path is empty.
type Artifact struct {
	Artifact string `json:"artifact" doc:"Digest of the file, or its path in /artifacts/out."`
	Path     string `json:"path,omitempty" doc:"Path of the file that an input names."`
	Size     int64  `json:"size,omitempty" doc:"Size in bytes."`
	Media    string `json:"media,omitempty" doc:"Media type."`
	Name     string `json:"name,omitempty" doc:"Name for people."`
}

// NewArtifact names a new file. An output with it becomes an artifact once the attempt has succeeded or is suspended.
func NewArtifact(name string) Artifact {
	return Artifact{Artifact: path.Join(outputDir, path.Clean("/"+name))}
}

// Open opens the file that an input names.
func (a Artifact) Open() (*os.File, error) { return os.Open(a.Path) }

// Create creates the new file, and the directories above it.
func (a Artifact) Create() (*os.File, error) {
	if err := os.MkdirAll(path.Dir(a.Artifact), 0o755); err != nil {
		return nil, err
	}
	return os.Create(a.Artifact)
}
