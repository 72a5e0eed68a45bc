// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// JobName returns the name of the Job of a box for the pods with the hash. The name of the box is truncated if the whole is too long for
// a label of the pods of the Job.
func JobName(box string, jobType modelv1.JobType, hash string) string {
	suffix := "-" + strings.ToLower(string(jobType)) + "-" + hash
	if most := validation.LabelValueMaxLength - len(suffix); len(box) > most {
		box = strings.TrimRight(box[:most], "-")
	}
	return box + suffix
}
