// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"encoding/base64"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var limits = RecordLimits{Object: 512 << 10, Value: 256 << 10, Decoded: 24 << 20}

func TestDecodeRecordRefusesWhatIsNotWhole(t *testing.T) {
	box := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "web-uid", Generation: 7, Labels: map[string]string{"team": "checkout"}},
		Spec:       modelv1.ModelBoxSpec{Image: "nginx:1.7.9"},
	}
	whole, err := EncodeRecord(box, limits)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(whole)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(change func([]byte) []byte) string {
		return base64.StdEncoding.EncodeToString(change(bytes.Clone(raw)))
	}
	packed := func(data []byte) string {
		compressed, err := compress(data)
		if err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(compressed)
	}
	nameless, err := (&modelv1.ModelBox{}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	third := box.DeepCopy()
	third.Spec.Ports = []corev1.ServicePort{{Port: 80, TargetPort: intstr.IntOrString{Type: 2}}}
	withThird, err := third.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	late := box.DeepCopy()
	late.CreationTimestamp = metav1.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	withYear, err := late.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"nothing":                 "",
		"no base64":               "{}",
		"a line break":            whole[:8] + "\n" + whole[8:],
		"a version of the future": changed(func(data []byte) []byte { data[0]++; return data }),
		"half of it":              changed(func(data []byte) []byte { return data[:len(data)/2] }),
		"without its last byte":   changed(func(data []byte) []byte { return data[:len(data)-1] }),
		"with a byte more":        changed(func(data []byte) []byte { return append(data, 0) }),
		"twice":                   changed(func(data []byte) []byte { return append(data, data[1:]...) }),
		"another checksum":        changed(func(data []byte) []byte { data[len(data)-5]++; return data }),
		"what JSON does not have": packed(withThird),
		"a year of five digits":   packed(withYear),
		"no box":                  packed([]byte("no protobuf")),
		"a box without a name":    packed(nameless),
		"more than the limit":     strings.Repeat("A", limits.Value+4),
	} {
		if read := (&modelv1.ModelBox{}); DecodeRecord(value, read, limits) == nil {
			t.Errorf("%s was read as %v", name, read)
		}
	}
	for i := range raw {
		if value := changed(func(data []byte) []byte { data[i] ^= 0x10; return data }); value != whole {
			read := &modelv1.ModelBox{}
			if err := DecodeRecord(value, read, limits); err == nil && !apiequality.Semantic.DeepEqual(read, box) {
				t.Errorf("a bit of byte %d was changed, and another box read", i)
			}
		}
	}
}

func TestDecodeRecordOfABombTakesLittleMemory(t *testing.T) {
	identity, err := (&modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "web-uid"}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	// Each element is two bytes, its tag and its length.
	emptyContainers := bytes.Repeat([]byte{14<<3 | byte(protowire.BytesType), 0}, 240<<10)
	for _, row := range []struct {
		name string
		data []byte
		want string
	}{
		{"64 MiB", make([]byte, 64<<20), "decompressing a record: it has more than 524288 bytes"},
		{"many empty containers", protowire.AppendBytes(protowire.AppendTag(identity, 2, protowire.BytesType), emptyContainers),
			"decoding the object of a record: spec.containers: Too many: must have at most 16384 items"},
	} {
		t.Run(row.name, func(t *testing.T) {
			bomb, err := compress(row.data)
			if err != nil {
				t.Fatal(err)
			}
			value := base64.StdEncoding.EncodeToString(bomb)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := DecodeRecord(value, &modelv1.ModelBox{}, limits); err == nil || err.Error() != row.want {
				t.Errorf("got %v, want %s", err, row.want)
			}
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 8<<20 {
				t.Errorf("reading a record of %d bytes took %d", len(value), taken)
			}
		})
	}
}

func TestEncodeRecordOfWhatCannotBeDecoded(t *testing.T) {
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "web-uid"}}
	box.Spec.Containers = make([]corev1.Container, 20000)
	if _, err := EncodeRecord(box, limits); !errors.Is(err, ErrRecordTooLarge) {
		t.Errorf("got %v, want ErrRecordTooLarge", err)
	}
}
