// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/mpi_choice.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/folder_testing.h"

namespace roentgen::dist {
namespace {

namespace fs = std::filesystem;
using Files = std::vector<std::string>;

const Files kOfOpenMpi{"libmpi.so.40"};
const Files kOfMpich{"libmpi.so.12", "libmpich.so.12"};

Files operator+(Files first, const Files& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Fixture with MPI installations: folders with bin/mpirun, without a library.
class MpiFiles : public testing::Test {
 protected:
  /// Returns a PATH with an installation whose mpirun is a link to `program`.
  std::string path_with(std::string_view program) {
    const fs::path bin = root_ / program / "bin";
    fs::create_directories(bin);
    std::ofstream(bin / program) << "a program";
    if (program != "mpirun") fs::create_symlink(bin / program, bin / "mpirun");
    return "PATH=/nowhere:" + bin.string();
  }
  /// Creates a library in the installation of `program` and returns its path.
  std::string library_of(std::string_view program, std::string_view name) {
    const fs::path file = root_ / program / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "a library";
    return file.string();
  }

  const TemporaryFolder folder_;
  const fs::path root_ = fs::canonical(folder_.path());
};

TEST_F(MpiFiles, are_of_both_families_where_nothing_tells_which) {
  EXPECT_EQ(mpi_files({}), kOfOpenMpi + kOfMpich);
  EXPECT_EQ(mpi_files({"PATH=/nowhere", "PMIX_RANK=0", "SLURM_PROCID=0"}), kOfOpenMpi + kOfMpich) << "srun --mpi=pmix";
  EXPECT_EQ(mpi_files({"PATH=/nowhere", "PMI_RANK=0", "PMI_SIZE=2"}), kOfMpich + kOfOpenMpi) << "srun --mpi=pmi2";
}

TEST_F(MpiFiles, are_those_of_the_launcher_alone) {
  const std::string hydra = path_with("mpiexec.hydra"), open = path_with("orterun");
  EXPECT_EQ(mpi_files({hydra, "OMPI_COMM_WORLD_SIZE=2", "PMI_SIZE=2", "PMI_RANK=0"}), kOfOpenMpi);
  EXPECT_EQ(mpi_files({open, "MPI_LOCALNRANKS=2", "PMI_SIZE=2", "PMI_RANK=0"}), kOfMpich);
}

TEST_F(MpiFiles, begin_with_the_family_of_the_mpirun_on_the_path) {
  const std::string hydra = path_with("mpiexec.hydra"), open = path_with("orterun");
  EXPECT_EQ(mpi_files({open}), kOfOpenMpi + kOfMpich);
  EXPECT_EQ(mpi_files({hydra}), kOfMpich + kOfOpenMpi);
  EXPECT_EQ(mpi_files({hydra, "PMIX_RANK=0"}), kOfMpich + kOfOpenMpi);
  EXPECT_EQ(mpi_files({open, "PMI_SIZE=2"}), kOfOpenMpi + kOfMpich);
}

TEST_F(MpiFiles, begin_with_those_beside_the_mpirun_of_their_family) {
  const std::string open = path_with("orterun"), hydra = path_with("mpiexec.hydra");
  const std::string in_lib = library_of("orterun", "lib/libmpi.so.40");
  library_of("orterun", "lib/libmpi.so.12");
  const std::string in_release = library_of("mpiexec.hydra", "lib/release/libmpi.so.12");
  EXPECT_EQ(mpi_files({open}), Files{in_lib} + kOfOpenMpi + kOfMpich);
  EXPECT_EQ(mpi_files({hydra}), Files{in_release} + kOfMpich + kOfOpenMpi);
  EXPECT_EQ(mpi_files({open, "MPI_LOCALNRANKS=2"}), kOfMpich);
}

TEST_F(MpiFiles, are_what_the_user_asks_for) {
  const std::string open = path_with("orterun");
  EXPECT_EQ(mpi_files({open, "ROENTGEN_MPI=mpich", "OMPI_COMM_WORLD_SIZE=2"}), kOfMpich);
  EXPECT_EQ(mpi_files({"ROENTGEN_MPI=openmpi", "PMI_SIZE=2"}), kOfOpenMpi);
  EXPECT_EQ(mpi_files({open, "ROENTGEN_MPI=/opt/cray/libmpi_gnu.so"}), Files{"/opt/cray/libmpi_gnu.so"});
  EXPECT_EQ(mpi_files({"ROENTGEN_MPI="}), kOfOpenMpi + kOfMpich);
}

using MpirunOnPath = MpiFiles;

TEST_F(MpirunOnPath, has_a_family_by_its_name_or_by_the_hydra_beside_it) {
  const auto family = [](const std::string& variable) { return find_mpirun(variable.substr(5)).value().family; };
  EXPECT_EQ(family(path_with("orterun")), kOpenMpi);
  EXPECT_EQ(family(path_with("mpiexec.hydra")), kMpich);
  EXPECT_EQ(family(path_with("mpirun.mpich")), kMpich);
  EXPECT_EQ(family(path_with("mpirun")), kOpenMpi) << "Open MPI 5";
  std::ofstream(root_ / "mpirun/bin/mpiexec.hydra") << "a program";
  EXPECT_EQ(family("PATH=" + (root_ / "mpirun/bin").string()), kMpich) << "Intel MPI";
}

TEST_F(MpirunOnPath, is_the_first_one_of_any_folder) {
  const std::string open = path_with("orterun").substr(5), hydra = path_with("mpiexec.hydra").substr(5);
  EXPECT_EQ(find_mpirun(open + ":" + hydra).value().family, kOpenMpi);
  EXPECT_EQ(find_mpirun(hydra + ":" + open).value().file, root_ / "mpiexec.hydra/bin/mpiexec.hydra");
  EXPECT_FALSE(find_mpirun("/nowhere").has_value());
  EXPECT_FALSE(find_mpirun("").has_value());
}

}  // namespace
}  // namespace roentgen::dist
