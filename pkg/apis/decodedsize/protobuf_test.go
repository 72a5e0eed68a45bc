// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package decodedsize

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const limit = 64 << 20

var boxType = reflect.TypeFor[modelv1.ModelBox]()

// within puts a message into the fields of others, from the inside out.
func within(message []byte, numbers ...protowire.Number) []byte {
	for _, number := range numbers {
		message = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), message)
	}
	return message
}

// numbers of fields.
const (
	metadata, spec          protowire.Number = 1, 2
	labels                  protowire.Number = 11
	containers              protowire.Number = 14
	podTemplate, podSpec    protowire.Number = 25, 2
	containerEnv            protowire.Number = 7
	securityContext, groups protowire.Number = 14, 4
)

func TestOfProtobufRefusesWhatWouldTakeTooMuchMemory(t *testing.T) {
	many := func(element []byte, times int) []byte { return bytes.Repeat(element, times) }
	container := within(many(within(nil, containerEnv), 1000), containers)
	for _, row := range []struct {
		name string
		data []byte
		want string
	}{
		{"elements of two bytes", within(many(within(nil, containers), 100000), spec), "spec.containers: Too many: must have at most 16384 items"},
		{"entries of two bytes", within(many(within(nil, labels), 100000), metadata), "metadata.labels: Too many: must have at most 16384 items"},
		{"elements between others", within(many(append(within(nil, containers), within(nil, 3)...), 100000), spec), "spec.containers: Too many: must have at most 16384 items"},
		{"packed numbers", within(make([]byte, 100000), groups, securityContext, podSpec, podTemplate, spec), "spec.podTemplate.spec.securityContext.supplementalGroups: Too many: must have at most 16384 items"},
		{"few elements of many elements", within(many(container, 400), spec), "spec.containers.env: Too large: the decoded object must take at most 64 MiB of memory"},
		{"half a message", within(nil, containers)[:1], "malformed protobuf"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := OfProtobuf(row.data, boxType, limit); err == nil || err.Error() != row.want {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

// The generated decoders cut the number of a field to 32 bits. They decode fields that a walk does not take for fields.
func TestOfProtobufRefusesFieldNumbersThatDecodersCut(t *testing.T) {
	tag := binary.AppendUvarint(nil, (1<<32+uint64(containers))<<3|uint64(protowire.BytesType))
	data := within(bytes.Repeat(append(tag, 0), 20000), spec)
	box := &modelv1.ModelBox{}
	if err := box.Unmarshal(data); err != nil || len(box.Spec.Containers) != 20000 {
		t.Fatalf("the decoder has %d containers and the error %v", len(box.Spec.Containers), err)
	}
	if size, err := OfProtobuf(data, boxType, limit); err == nil {
		t.Errorf("the box is estimated to take %d bytes", size)
	}
}

func TestOfProtobufOfAnOrdinaryBox(t *testing.T) {
	box := &modelv1.ModelBox{Spec: modelv1.ModelBoxSpec{Image: "nginx:1.29", Containers: []corev1.Container{{Name: "side", Image: "side:1"}}}}
	data, err := box.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	size, err := OfProtobuf(data, boxType, limit)
	if err != nil || size > 16<<10 {
		t.Errorf("it is estimated to take %d bytes, with the error %v", size, err)
	}
}
