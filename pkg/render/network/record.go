// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Record returns the value of modelv1.RecordAnnotation for the Network: its identity, metadata and spec, without status,
// resourceVersion and managed fields. If that is too large for an annotation, metadata is left out, see render.EncodeRecord. Every
// valid spec fits.
func Record(network *modelv1.Network) (string, error) {
	recorded := &modelv1.Network{ObjectMeta: render.RecordedMeta(network), Spec: network.Spec}
	value, err := render.EncodeRecordAnnotation(recorded, nil)
	if err != nil {
		return "", fmt.Errorf("recording network %s: %w", network.Name, err)
	}
	return value, nil
}

// ReadRecord returns the Network of a record, see render.DecodeRecord.
func ReadRecord(value string) (*modelv1.Network, error) {
	network := &modelv1.Network{}
	if err := render.DecodeRecordAnnotation(value, network); err != nil {
		return nil, err
	}
	return network, nil
}
