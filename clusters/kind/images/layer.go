package images

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layer is a tar file that is not compressed: an archive goes from disk to disk of one machine, and five nodes would have to unpack it.
type layer struct {
	open   func() (io.ReadCloser, error)
	digest v1.Hash
	size   int64
}

// newLayer reads the content once, for its digest. open must give the same bytes every time.
func newLayer(open func() (io.ReadCloser, error)) (*layer, error) {
	content, err := open()
	if err != nil {
		return nil, err
	}
	defer content.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, content)
	if err != nil {
		return nil, err
	}
	return &layer{open: open, size: size, digest: v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(hash.Sum(nil))}}, nil
}

func (l *layer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l *layer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l *layer) Compressed() (io.ReadCloser, error)   { return l.open() }
func (l *layer) Uncompressed() (io.ReadCloser, error) { return l.open() }
func (l *layer) Size() (int64, error)                 { return l.size, nil }
func (l *layer) MediaType() (types.MediaType, error)  { return types.DockerUncompressedLayer, nil }

// entry is one file of a layer: of a file on disk, of text, or neither for a directory or a link.
type entry struct {
	path  string // without a leading slash
	mode  int64
	owner int
	disk  string
	text  string
	link  string
}

// write appends the entry to a tar. Times are the epoch, so that the digest is that of the content.
func (e entry) write(out *tar.Writer) error {
	header := &tar.Header{Name: e.path, Mode: e.mode, Uid: e.owner, Gid: e.owner, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	switch {
	case e.link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, e.link
		return out.WriteHeader(header)
	case strings.HasSuffix(e.path, "/"):
		header.Typeflag = tar.TypeDir
		return out.WriteHeader(header)
	case e.disk == "":
		header.Typeflag, header.Size = tar.TypeReg, int64(len(e.text))
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		_, err := io.WriteString(out, e.text)
		return err
	}
	file, err := os.Open(e.disk)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	header.Typeflag, header.Size = tar.TypeReg, info.Size()
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return err
}

// pack makes a layer of the entries, in their order.
func pack(entries []entry) (*layer, error) {
	return newLayer(func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() {
			out := tar.NewWriter(writer)
			for _, e := range entries {
				if err := e.write(out); err != nil {
					writer.CloseWithError(err)
					return
				}
			}
			writer.CloseWithError(out.Close())
		}()
		return reader, nil
	})
}
