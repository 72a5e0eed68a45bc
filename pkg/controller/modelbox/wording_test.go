// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

func TestConditionsHaveMessagesOfLimitedLength(t *testing.T) {
	observed := &status.Observation{Failures: []error{errors.New(strings.Repeat("ü", 20_000))}}
	for _, condition := range status.ConditionsOf(fixture.WebBox(t), observed) {
		if len(condition.Message) > message.MaxBytes || !utf8.ValidString(condition.Message) {
			t.Errorf("the message of %s has %d bytes, valid UTF-8: %v", condition.Type, len(condition.Message), utf8.ValidString(condition.Message))
		}
	}
}
