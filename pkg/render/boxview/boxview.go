// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package boxview is how validation, warnings and admission read a box: in the served version, and with its pod template, which is
// rendered once for a request.
package boxview

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// V1 returns a box in the served version. The two share memory: neither may be changed.
func V1(box *model.ModelBox) (*modelv1.ModelBox, error) {
	served := &modelv1.ModelBox{}
	if err := modelv1.Convert_model_ModelBox_To_v1_ModelBox(box, served, nil); err != nil {
		return nil, fmt.Errorf("converting ModelBox %s: %w", box.Name, err)
	}
	return served, nil
}

// PodTemplate returns the pod template that the controller will give to the workload of the box. It must not be changed: if the
// context has WithPodTemplates, other callers get the same one.
func PodTemplate(ctx context.Context, box *model.ModelBox) (*corev1.PodTemplateSpec, error) {
	served, err := V1(box)
	if err != nil {
		return nil, err
	}
	if templates, ok := ctx.Value(podTemplatesKey).(*podTemplates); ok {
		return templates.of(served)
	}
	return modelboxrender.PodTemplate(served)
}

type contextKey int

const podTemplatesKey contextKey = iota

// WithPodTemplates returns a context that keeps the pod templates of boxes, so that equal boxes are rendered once.
func WithPodTemplates(ctx context.Context) context.Context {
	return context.WithValue(ctx, podTemplatesKey, &podTemplates{})
}

// maxBytes limits the size of the boxes whose templates a request keeps. An update of the largest stack fits: it has its boxes and
// the old ones, each with and without what connects them. An update that conflicts again and again does not.
const maxBytes = 4 << 20

// podTemplates are the pod templates of the boxes of a request.
//
// A template belongs to the content of a box, not to its address. The store gives admission a copy of the box that it has validated,
// and a step that changes a box leaves it at its address.
type podTemplates struct {
	lock     sync.Mutex
	rendered map[string]podTemplate
	// bytes is the size of the keys of rendered, and buffer has room for one.
	bytes  int
	buffer []byte
}

type podTemplate struct {
	template *corev1.PodTemplateSpec
	err      error
}

func (t *podTemplates) of(box *modelv1.ModelBox) (*corev1.PodTemplateSpec, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	key, err := t.encode(box)
	if err != nil {
		return nil, fmt.Errorf("encoding ModelBox %s: %w", box.Name, err)
	}
	if known, isKnown := t.rendered[string(key)]; isKnown {
		return known.template, known.err
	}
	if t.bytes+len(key) > maxBytes || t.rendered == nil {
		t.rendered, t.bytes = map[string]podTemplate{}, 0
	}
	template, err := modelboxrender.PodTemplate(box)
	t.rendered[string(key)] = podTemplate{template, err}
	t.bytes += len(key)
	return template, err
}

// encode returns the box as protobuf, in which equal boxes have equal bytes. They are valid until the next call.
func (t *podTemplates) encode(box *modelv1.ModelBox) ([]byte, error) {
	size := box.Size()
	if cap(t.buffer) < size {
		t.buffer = make([]byte, size)
	}
	n, err := box.MarshalToSizedBuffer(t.buffer[:size])
	if err != nil {
		return nil, err
	}
	return t.buffer[size-n : size], nil
}
