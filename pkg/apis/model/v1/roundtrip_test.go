// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/fuzzer"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
)

// What is converted, encoded in any of the formats, decoded and converted back is what it was.
func TestRoundTrip(t *testing.T) {
	roundtrip.RoundTripProtobufTestForAPIGroup(t, install.Install, fuzzer.Funcs)
}
