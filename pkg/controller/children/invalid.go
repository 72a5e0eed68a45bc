// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// applyInPlaceOf applies the rendered child once more, in place of the fields that other managers set near the fields that the API
// found invalid. The render alone is valid. If other managers set no such fields, applyInPlaceOf returns the error of the first
// apply.
func (e *Engine[O]) applyInPlaceOf(ctx context.Context, owner O, s apply.Step, invalid error) (Object, error) {
	live, err := e.kindOf(s).get(ctx, owner.GetNamespace(), s.Live.GetName())
	if err != nil {
		return nil, errors.Join(invalid, err)
	}
	if live.GetResourceVersion() != s.Live.GetResourceVersion() {
		return nil, fmt.Errorf("%s %s: %w", s.Kind.Name(), s.Live.GetName(), errChildChanged)
	}
	s.Live = live
	inTheWay, err := e.compare.ForeignNear(invalid, s.Rendered, live)
	if err != nil {
		return nil, errors.Join(invalid, err)
	}
	if s.Live, err = e.claim(ctx, owner, s, fieldpath.NewSet(), inTheWay); err != nil {
		return nil, errors.Join(invalid, err)
	}
	if s.Live == live {
		return nil, invalid
	}
	return e.applyAs(ctx, owner, s, render.FieldManager, true)
}
