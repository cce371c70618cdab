package images

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestChoose(t *testing.T) {
	plan := `NOTE: This is only a simulation!
Inst base-files (13.8+deb13u8 Debian:13.5/stable [amd64])
Inst perl-base (5.40.1-6+deb13u1 Debian:13.5/stable [amd64])
Inst libllvm19 (1:19.1.7-3+b1 Debian:13.5/stable [amd64])
Inst postgresql-common (278+deb13u1 Debian:13.5/stable [all])
Inst libpq5 (17.12-0+deb13u1 Debian:13.5/stable [amd64])
Inst postgresql-client-17 [17.1-1] (17.12-0+deb13u1 Debian:13.5/stable [amd64])
Inst postgresql-17 (17.12-0+deb13u1 Debian:13.5/stable [amd64])
Conf postgresql-17 (17.12-0+deb13u1 Debian:13.5/stable [amd64])
`
	chosen := choose(plan, unwanted)
	want := []string{"base-files=13.8+deb13u8", "libpq5=17.12-0+deb13u1", "postgresql-client-17=17.12-0+deb13u1", "postgresql-17=17.12-0+deb13u1"}
	if version := versionOf(chosen, "postgresql-17"); version != "17.12" || !slices.Equal(chosen, want) {
		t.Errorf("got %v, %q", chosen, version)
	}
	if version := versionOf(choose("Inst dash (1 Debian [amd64])\n", unwanted), "postgresql-17"); version != "" {
		t.Errorf("no Postgres, and version %q", version)
	}
}

func TestRootTakesFilesWithoutWhatDiffersBetweenMachines(t *testing.T) {
	var out bytes.Buffer
	root := &rootWriter{out: tar.NewWriter(&out), seen: map[string]bool{"etc/passwd": true}, needs: map[string][]string{}}
	for _, header := range []tar.Header{
		{Typeflag: tar.TypeDir, Name: "./"},
		{Typeflag: tar.TypeDir, Name: "./usr/"},
		{Typeflag: tar.TypeReg, Name: "./usr/bin/su", Mode: 0o4755, Uid: 7, Uname: "builder", ModTime: time.Now()},
		{Typeflag: tar.TypeReg, Name: "./bin/old", Mode: 0o755},
		{Typeflag: tar.TypeSymlink, Name: "./lib/libx.so.1", Linkname: "libx.so.1.2"},
		{Typeflag: tar.TypeLink, Name: "./usr/bin/twin", Linkname: "./bin/old"},
		{Typeflag: tar.TypeReg, Name: "./etc/passwd", Mode: 0o600},
		{Typeflag: tar.TypeReg, Name: "./usr/share/doc/su/copyright", Mode: 0o644},
		{Typeflag: tar.TypeDir, Name: "./usr/share/doc/"},
		{Typeflag: tar.TypeDir, Name: "./usr/"},
	} {
		if err := root.add(&header, strings.NewReader("")); err != nil {
			t.Fatal(err)
		}
	}
	if err := root.out.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for in := tar.NewReader(&out); ; {
		header, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, header.Name)
		if header.Uid != 0 || header.Uname != "" || !header.ModTime.Equal(time.Unix(0, 0)) || header.Mode&0o6000 != 0 {
			t.Errorf("%s still tells where it comes from: %+v", header.Name, header)
		}
		if header.Name == "usr/bin/twin" && header.Linkname != "usr/bin/old" {
			t.Errorf("a hard link to %s", header.Linkname)
		}
	}
	if want := []string{"usr/", "usr/bin/su", "usr/bin/old", "usr/lib/libx.so.1", "usr/bin/twin"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := root.add(&tar.Header{Typeflag: tar.TypeChar, Name: "./dev/null"}, nil); err == nil {
		t.Error("a device: no error")
	}
}

func TestLibraries(t *testing.T) {
	if needs, err := libraries([]byte("#!/bin/sh\n")); err != nil || needs != nil {
		t.Errorf("a script: %v, %v", needs, err)
	}
	if _, err := libraries([]byte("\x7fELF and no more")); err == nil {
		t.Error("a binary cut short: no error")
	}
	// dash is what Debian and its kin start scripts with.
	sh, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	if needs, err := libraries(sh); err != nil || !slices.ContainsFunc(needs, func(name string) bool { return strings.HasPrefix(name, "libc") }) {
		t.Errorf("/bin/sh needs %v, %v", needs, err)
	}
}

func TestLinked(t *testing.T) {
	complete := map[string][]string{"bin/postgres": {"libz.so.1", "libc.so.6"}, "lib/libz.so.1": {"libz.so.1.3"}, "lib/libz.so.1.3": {"libc.so.6"}, "lib/libc.so.6": nil}
	for _, test := range []struct{ name, missing, want string }{
		{"complete", "", ""},
		{"program", "bin/postgres", "bin/postgres is missing"},
		{"library", "lib/libc.so.6", "bin/postgres needs libc.so.6"},
		{"target of a link", "lib/libz.so.1.3", "lib/libz.so.1 needs libz.so.1.3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			present := map[string]bool{}
			for file := range complete { // order does not matter
				present[file] = file != test.missing
				if file == test.missing {
					delete(present, file)
				}
			}
			err := linked([]string{"bin/postgres"}, present, complete)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
